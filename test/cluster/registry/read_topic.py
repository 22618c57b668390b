"""Reads a topic from its beginning with librdkafka, decodes values through the schema registry, and prints one JSON object a record.

    read_topic.py BROKERS REGISTRY TOPIC COUNT
"""
import base64
import json
import sys
from datetime import datetime, timedelta, timezone
from uuid import uuid4

from confluent_kafka import Consumer
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def as_json(value):
    """What JSON has no form for: times as epoch milliseconds, bytes as base64."""
    if isinstance(value, datetime):
        return (value - EPOCH) // timedelta(milliseconds=1)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(type(value))


brokers, registry, topic, count = sys.argv[1:]
decode = AvroDeserializer(SchemaRegistryClient({'url': registry}))
consumer = Consumer({'bootstrap.servers': brokers, 'group.id': str(uuid4()), 'auto.offset.reset': 'earliest'})
consumer.subscribe([topic])
left = int(count)
while left > 0:
    message = consumer.poll(1)
    if message is None:
        continue
    if message.error():
        raise SystemExit(str(message.error()))
    value = decode(message.value(), SerializationContext(topic, MessageField.VALUE))
    print(json.dumps({'key': message.key().decode(), 'partition': message.partition(), 'value': value}, default=as_json))
    left -= 1
consumer.close()
