// Reads MCAP files with a reader that is not ours and decodes every message with the definition
// in the file. Prints one JSON summary a file; exit code 1 when anything is wrong.
// Usage: node mcap_read.mjs [--stream] FILE...   (--stream: the file may end anywhere)
import { readFileSync } from "node:fs";
import { McapIndexedReader, McapStreamReader } from "@mcap/core";
import { crc32 } from "@foxglove/crc";
import { parse } from "@foxglove/rosmsg";
import { MessageReader } from "@foxglove/rosmsg2-serialization";
import { ros2humble } from "@foxglove/rosmsg-msgs-common";
import { loadDecompressHandlers } from "@mcap/support";

const kLatched = new Set(["/tf_static", "/diagnostics"]);
const kMagicSize = 8;
const kFooterSize = 9 + 20;

class Check {
  constructor(path) {
    this.summary = { path, messages: {}, faults: [] };
    this.schemas = new Map();
    this.channels = new Map();
    this.readers = new Map();
    this.newest = new Map();
    this.sequences = new Map();
  }

  fault(text) {
    if (this.summary.faults.length < 20) this.summary.faults.push(text);
  }

  schema(schema) {
    this.schemas.set(schema.id, schema);
    if (schema.encoding !== "ros2msg") return;
    const text = new TextDecoder().decode(schema.data);
    const definitions = parse(text, { ros2: true });
    for (const definition of definitions) this.compare(schema, definition);
    this.readers.set(schema.id, new MessageReader(definitions));
  }

  // The first definition of a schema has no name of its own.
  compare(schema, definition) {
    const short = (definition.name ?? schema.name).replace("/msg/", "/");
    const official = ros2humble[short.replace("/", "/msg/")] ?? ros2humble[short];
    if (official == undefined) return this.fault(`${short}: not in ros2humble`);
    const fields = (d) => JSON.stringify(d.map((f) => [f.name, normal(f.type), f.isArray ?? false,
      f.arrayLength ?? null, f.isConstant ?? false, f.value ?? null, f.defaultValue ?? null]));
    if (fields(definition.definitions) !== fields(official.definitions)) {
      this.fault(`${short}: fields differ from ros2humble\n${fields(definition.definitions)}\n` +
        fields(official.definitions));
    }
  }

  channel(channel) {
    this.channels.set(channel.id, channel);
    if (!channel.metadata.has("offered_qos_profiles")) this.fault(`${channel.topic}: no QoS`);
    if (channel.schemaId !== 0 && !this.schemas.has(channel.schemaId)) {
      this.fault(`${channel.topic}: its schema does not come before it`);
    }
  }

  message(message) {
    const channel = this.channels.get(message.channelId);
    if (channel == undefined) return this.fault(`message of an unknown channel`);
    const { topic } = channel;
    this.summary.messages[topic] = (this.summary.messages[topic] ?? 0) + 1;
    if (!kLatched.has(topic)) {
      if (message.logTime < (this.newest.get(topic) ?? 0n)) this.fault(`${topic}: time goes back`);
      this.newest.set(topic, message.logTime);
    }
    if (message.sequence < (this.sequences.get(topic) ?? 0)) this.fault(`${topic}: sequence`);
    this.sequences.set(topic, message.sequence);
    const reader = this.readers.get(channel.schemaId);
    if (reader == undefined) return;
    const decoded = reader.readMessage(message.data);
    this.content(topic, this.schemas.get(channel.schemaId).name, decoded, message);
  }

  content(topic, type, m, { logTime }) {
    if (type === "sensor_msgs/msg/PointCloud2") this.cloud(topic, m);
    if (type === "sensor_msgs/msg/LaserScan" && m.intensities.length > 0 &&
      m.intensities.length !== m.ranges.length) this.fault(`${topic}: intensities`);
    if (type === "sensor_msgs/msg/Imu" && m.orientation_covariance.length !== 9) {
      this.fault(`${topic}: covariance`);
    }
    const stamp = m.header?.stamp;
    if (stamp && (stamp.nsec ?? stamp.nanosec) >= 1e9) this.fault(`${topic}: stamp`);
    if (stamp && stamp.sec === 0 && logTime > 10n ** 18n) this.fault(`${topic}: stamp is 0`);
  }

  cloud(topic, m) {
    const names = m.fields.map((f) => `${f.name}@${f.offset}:${f.datatype}`).join(" ");
    if (names !== "x@0:7 y@4:7 z@8:7 intensity@12:7 time@16:7") this.fault(`${topic}: ${names}`);
    if (m.height !== 1 || m.point_step !== 20 || m.row_step !== m.width * 20 ||
      m.data.length !== m.row_step || m.is_bigendian || !m.is_dense) this.fault(`${topic}: layout`);
    const view = new DataView(m.data.buffer, m.data.byteOffset, m.data.byteLength);
    let last = -Infinity;
    for (let i = 0; i < m.width; ++i) {
      const time = view.getFloat32(i * 20 + 16, true);
      if (!(time >= last)) this.fault(`${topic}: point times go back`);
      last = time;
    }
  }
}

function normal(type) {
  const short = type.replace("/msg/", "/");
  return short === "builtin_interfaces/Time" ? "time" : short;
}

function readAsStream(check, bytes, mayBeCut) {
  const reader = new McapStreamReader({ validateCrcs: true, decompressHandlers });
  let footer = false;
  const take = () => {
    for (let record; (record = reader.nextRecord()); ) {
      if (record.type === "Schema" && !check.schemas.has(record.id)) check.schema(record);
      else if (record.type === "Channel" && !check.channels.has(record.id)) check.channel(record);
      else if (record.type === "Message") check.message(record);
      else if (record.type === "Header" && record.profile !== "ros2") check.fault("profile");
      else if (record.type === "Footer") footer = true;
    }
  };
  for (let at = 0; at < bytes.length; at += 4093) {  // pieces that fit nothing
    reader.append(bytes.subarray(at, at + 4093));
    take();
  }
  if (!mayBeCut && (!footer || !reader.done())) check.fault("the file does not end");
}

// The stream reader does not look at the CRCs of the sections.
function checkSectionCrcs(check, bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const footerAt = bytes.length - kMagicSize - kFooterSize;
  const summaryStart = Number(view.getBigUint64(footerAt + 9, true));
  const summaryCrc = view.getUint32(footerAt + 25, true);
  if (crc32(bytes.subarray(summaryStart, footerAt + 25)) !== summaryCrc) check.fault("summary CRC");
  const dataEndAt = summaryStart - 13;
  if (bytes[dataEndAt] !== 0x0f) return check.fault("no data end before the summary");
  const dataCrc = view.getUint32(dataEndAt + 9, true);
  if (crc32(bytes.subarray(0, dataEndAt)) !== dataCrc) check.fault("data CRC");
}

async function readByIndex(check, bytes) {
  const readable = {
    size: async () => BigInt(bytes.length),
    read: async (offset, size) => bytes.subarray(Number(offset), Number(offset + size)),
  };
  const reader = await McapIndexedReader.Initialize({ readable, decompressHandlers });
  const { statistics } = reader;
  check.summary.chunks = reader.chunkIndexes.length;
  const total = Object.values(check.summary.messages).reduce((a, b) => a + b, 0);
  if (Number(statistics.messageCount) !== total) check.fault("statistics: messages");
  if (reader.channelsById.size !== check.channels.size) check.fault("summary: channels");
  if (reader.schemasById.size !== check.schemas.size) check.fault("summary: schemas");
  for (const [id, count] of statistics.channelMessageCounts) {
    const { topic } = reader.channelsById.get(id);
    if (Number(count) !== (check.summary.messages[topic] ?? 0)) check.fault(`count of ${topic}`);
  }
  for await (const _ of reader.readAttachments()) check.summary.attachments = 1 + (check.summary.attachments ?? 0);
  for await (const _ of reader.readMetadata()) check.summary.metadata = 1 + (check.summary.metadata ?? 0);
  if (statistics.attachmentCount !== (check.summary.attachments ?? 0)) check.fault("attachments");
  if (statistics.metadataCount !== (check.summary.metadata ?? 0)) check.fault("metadata");
  if (reader.chunkIndexes.length === 0) return;
  let indexed = 0, newest = 0n;
  for await (const message of reader.readMessages({ validateCrcs: true })) {
    ++indexed;
    if (message.logTime < newest) check.fault("index: time goes back");
    newest = message.logTime;
  }
  if (indexed !== total) check.fault(`index: ${indexed} messages of ${total}`);
}

const decompressHandlers = await loadDecompressHandlers();
const mayBeCut = process.argv[2] === "--stream";
let isGood = true;
for (const path of process.argv.slice(mayBeCut ? 3 : 2)) {
  const check = new Check(path);
  const bytes = new Uint8Array(readFileSync(path));
  try {
    readAsStream(check, bytes, mayBeCut);
    if (!mayBeCut) {
      checkSectionCrcs(check, bytes);
      await readByIndex(check, bytes);
    }
  } catch (error) {
    check.fault(String(error.stack));
  }
  console.log(JSON.stringify(check.summary));
  isGood &&= check.summary.faults.length === 0;
}
process.exitCode = isGood ? 0 : 1;
