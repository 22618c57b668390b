/** The JSON Schema of an explanation. */
import Type from 'typebox';
import { noticeTexts, ruleTexts } from '../../pipeline/catalog/queries/explain.js';
import { Id, Timestamp } from '../../schemas/json/common.js';

const optional = (description: string) => Type.Optional(Type.Number({ description }));
const codes = <Code extends string>(texts: Readonly<Record<Code, string>>) => Type.Enum(Object.keys(texts) as Code[]);

const ExplainedFence = Type.Object(
  {
    _id: Id,
    tag: Type.Optional(Type.String()),
    externalId: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    distance_m: optional('To the boundary in metres, positive inside'),
    overlap: optional('Share of the accuracy disc that is inside, 0 to 1'),
    zone: Type.Optional(Type.Enum(['apart', 'near', 'partly', 'within'])),
    entryConfidence: optional('1, 2 or 3'),
    exitConfidence: optional('1, 2 or 3'),
    wasInside: Type.Boolean(),
    rule: Type.Object({ code: codes(ruleTexts), text: Type.String() }),
  },
  { $id: 'ExplainedFence', description: 'Why a location makes an event for a geofence, or does not' },
);

/** The answer of an explanation: the result, its transitions, and for each candidate geofence the rule that decided. */
export const Explanation = Type.Object(
  {
    evaluatedAt: Timestamp,
    evaluation: Type.Object({
      result: Type.Enum(['applied', 'repeat', 'stale']),
      transitions: Type.Array(
        Type.Object({
          type: Type.String(),
          _id: Id,
          confidence: Type.Integer(),
          duration: Type.Optional(Type.Number({ description: 'Minutes' })),
          currentlyOperating: Type.Optional(Type.Boolean()),
        }),
      ),
    }),
    notice: Type.Optional(Type.Object({ code: codes(noticeTexts), text: Type.String() })),
    fences: Type.Array(ExplainedFence),
  },
  { $id: 'Explanation' },
);
