"""Writes records with librdkafka, encoded with the newest schema that the registry has of the topic. Takes one JSON object a line: key, value.

    write_topic.py BROKERS REGISTRY TOPIC
"""
import json
import sys

from confluent_kafka import Producer
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

brokers, registry, topic = sys.argv[1:]
newest = {'auto.register.schemas': False, 'use.latest.version': True}
encode = AvroSerializer(SchemaRegistryClient({'url': registry}), conf=newest)
# As clients in Java do it; librdkafka's own way would put a device's records elsewhere.
producer = Producer({'bootstrap.servers': brokers, 'partitioner': 'murmur2_random'})
for line in sys.stdin:
    record = json.loads(line)
    value = encode(record['value'], SerializationContext(topic, MessageField.VALUE))
    producer.produce(topic, key=record['key'].encode(), value=value)
if producer.flush(30) > 0:
    raise SystemExit('not everything was written')
