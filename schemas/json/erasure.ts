/** JSON Schemas of erasures of users and events: the stored record, and the API's representation. */
import Type, { type Static } from 'typebox';
import { Environment, Id, Timestamp } from './common.js';

/** What a call can erase. */
export const ErasureSubject = Type.Enum(['user', 'event']);
export type ErasureSubject = Static<typeof ErasureSubject>;

/** An erasure as topic `changes` stores it. Times are epoch ms; `completedAt` is null while it runs. */
export const ErasureRecord = Type.Object(
  {
    _id: Id,
    project: Id,
    environment: Environment,
    /** Everything that was received up to this time is erased. */
    createdAt: Type.Integer(),
    updatedAt: Type.Integer(),
    /** `project`: all of the environment. It has an effect once the project is deleted. */
    subject: Type.Enum(['user', 'event', 'project']),
    /** Name of the subject: userId, deviceId or _id. Encrypted for this record. */
    target: Type.String(),
    completedAt: Type.Union([Type.Integer(), Type.Null()]),
  },
  { additionalProperties: false },
);
export type ErasureRecord = Static<typeof ErasureRecord>;

/** An erasure as the API shows it: the erased id is not repeated. */
export const Erasure = Type.Object({
  _id: Id,
  subject: ErasureSubject,
  /** `failed`: the encryption key of its name is lost, so it must be requested again. */
  status: Type.Enum(['running', 'done', 'failed']),
  createdAt: Timestamp,
  completedAt: Type.Optional(Timestamp),
});
