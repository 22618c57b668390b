/** Checks events of both services, and reads those of Radar from a file of webhook bodies. */
import { isDictionary } from '../../http/fields/values.js';
import { CommandFailure } from '../command.js';
import type { ComparedEvent } from './compare.js';
import { type JsonLine, jsonLinesOf } from './json-lines.js';

/** Returns the event. Throws a CommandFailure that says where it is and which field is wrong. */
export function comparedEvent(value: unknown, where: string): ComparedEvent {
  if (!isDictionary(value)) throw new CommandFailure(`${where}: an event must be an object`);
  const { _id, type, createdAt } = value;
  if (typeof _id !== 'string') throw new CommandFailure(`${where}: _id of an event must be text`);
  if (typeof type !== 'string') throw new CommandFailure(`${where}: type of an event must be text`);
  if (typeof createdAt !== 'string' || Number.isNaN(Date.parse(createdAt)))
    throw new CommandFailure(`${where}: createdAt of an event must be a date`);
  return { ...value, _id, type, createdAt };
}

/**
 * Reads lines of JSON: bodies of webhooks, with one event or several, or events. Throws a CommandFailure that names the
 * line and the rule if the file has anything else.
 */
export async function deliveredEvents(file: string): Promise<ComparedEvent[]> {
  const events: ComparedEvent[] = [];
  for await (const each of jsonLinesOf(file)) events.push(...eventsOf(each, `line ${each.line} of ${file}`));
  return events;
}

function eventsOf({ fields }: JsonLine, where: string): ComparedEvent[] {
  const { event, events, user } = fields;
  if (events !== undefined && !Array.isArray(events)) throw new CommandFailure(`${where}: events must be a list`);
  const all: unknown[] = events ?? [event ?? fields];
  return all.map((given) => {
    const found = comparedEvent(given, where);
    // A webhook names the user once, beside its events.
    return { ...found, user: found.user ?? (isDictionary(user) ? user : undefined) };
  });
}
