// Events in Java: reads topic events from Kafka, decodes them through the schema registry, and prints each once.
//
//   java -cp 'libs/*' examples/FollowEvents.java
//
// Needs Java 17, and the jars of kafka-clients 3.9, slf4j-nop and avro 1.12 in libs/:
//
//   mvn -q -f examples/java-libs.pom.xml dependency:copy-dependencies -DoutputDirectory="$PWD/libs"
//
// KAFKA, REGISTRY, TOPIC and GROUP name the cluster, the registry's API, the topic and the consumer group.
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.DecoderFactory;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

public class FollowEvents {
  /** A zero byte, and the registry's id of the schema. */
  static final int FRAME_BYTES = 5;
  /** A repeated event follows soon after the first one. */
  static final int REMEMBERED_IDS = 100_000;

  static final HttpClient http = HttpClient.newHttpClient();
  static final Map<Integer, GenericDatumReader<GenericRecord>> readers = new HashMap<>();

  public static void main(String[] arguments) throws Exception {
    Properties settings = new Properties();
    settings.put("bootstrap.servers", variable("KAFKA", "127.0.0.1:9092"));
    settings.put("group.id", variable("GROUP", "my-service"));
    settings.put("auto.offset.reset", "earliest");
    settings.put("enable.auto.commit", "false");
    Set<String> seen = Collections.newSetFromMap(new LinkedHashMap<>() {
      @Override
      protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
        return size() > REMEMBERED_IDS;
      }
    });
    try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new ByteArrayDeserializer())) {
      consumer.subscribe(List.of(variable("TOPIC", "fenceline.events")));
      while (true) {
        for (ConsumerRecord<String, byte[]> record : consumer.poll(Duration.ofSeconds(1))) {
          GenericRecord event = decode(record.value());
          String id = event.get("id").toString();
          // Events are on the topic at least once, always under the same id.
          if (seen.add(id)) System.out.println(record.key() + " " + event.get("type") + " " + id);
        }
        // After the events were handled, so that none is lost.
        consumer.commitSync();
      }
    }
  }

  static GenericRecord decode(byte[] frame) throws Exception {
    int id = ByteBuffer.wrap(frame).getInt(1);
    GenericDatumReader<GenericRecord> reader = readers.get(id);
    if (reader == null) {
      reader = new GenericDatumReader<>(schemaOf(id));
      readers.put(id, reader);
    }
    return reader.read(
        null, DecoderFactory.get().binaryDecoder(frame, FRAME_BYTES, frame.length - FRAME_BYTES, null));
  }

  /** The answer is {"schema": "…"}, with the schema as text. */
  static Schema schemaOf(int id) throws Exception {
    URI address = URI.create(variable("REGISTRY", "http://127.0.0.1:8081") + "/schemas/ids/" + id);
    HttpResponse<String> answer =
        http.send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() != 200) throw new IllegalStateException(address + " answered " + answer.statusCode());
    JsonNode json = new ObjectMapper().readTree(answer.body());
    return new Schema.Parser().parse(json.get("schema").asText());
  }

  static String variable(String name, String otherwise) {
    return System.getenv().getOrDefault(name, otherwise);
  }
}
