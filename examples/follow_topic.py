"""Events in Python from Kafka: reads topic events, decodes it through the schema registry, and prints each event once.

    python3 examples/follow_topic.py

Needs the package confluent-kafka[avro,schemaregistry]. KAFKA, REGISTRY, TOPIC and GROUP name the cluster, the
registry's API, the topic and the consumer group.
"""
import os
from collections import OrderedDict

from confluent_kafka import Consumer
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext

# A repeated event follows soon after the first one.
REMEMBERED_IDS = 100_000

topic = os.environ.get('TOPIC', 'fenceline.events')
decode = AvroDeserializer(SchemaRegistryClient({'url': os.environ.get('REGISTRY', 'http://127.0.0.1:8081')}))
consumer = Consumer({
    'bootstrap.servers': os.environ.get('KAFKA', '127.0.0.1:9092'),
    'group.id': os.environ.get('GROUP', 'my-service'),
    'auto.offset.reset': 'earliest',
    'enable.auto.commit': False,
})
consumer.subscribe([topic])
seen = OrderedDict()

while True:
    message = consumer.poll(1)
    if message is None:
        continue
    if message.error():
        raise SystemExit(str(message.error()))
    event = decode(message.value(), SerializationContext(topic, MessageField.VALUE))
    # Events are on the topic at least once, always under the same id.
    if event['id'] not in seen:
        seen[event['id']] = True
        if len(seen) > REMEMBERED_IDS:
            seen.popitem(last=False)
        print(message.key().decode(), event['type'], event['id'], flush=True)
    # After the event was handled, so that none is lost.
    consumer.commit(message, asynchronous=False)
