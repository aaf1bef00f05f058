import assert from "node:assert/strict";
import { test } from "node:test";
import { SseReader, type ServerEvent } from "./sse";

function read(...pieces: string[]): ServerEvent[] {
  const events: ServerEvent[] = [];
  const reader = new SseReader((event) => events.push(event));
  for (const piece of pieces) reader.feed(piece);
  return events;
}

test("an event with an id", () => {
  assert.deepEqual(read('id: 7\ndata: {"a": 1}\n\n'), [
    { id: "7", name: "message", data: '{"a": 1}' },
  ]);
});

test("pieces end anywhere, lines end in either way", () => {
  assert.deepEqual(read("id: 1", "2\r\nda", "ta: x\r\n", "\r\n"), [
    { id: "12", name: "message", data: "x" },
  ]);
});

test("comments are none, names and several lines are kept", () => {
  assert.deepEqual(read(": alive\n\n", "event: lost\ndata: a\ndata: b\n\n"), [
    { id: "", name: "lost", data: "a\nb" },
  ]);
});

test("what is not complete is no event", () => {
  assert.deepEqual(read("data: x\n"), []);
});
