/** GET /v1/analytics/…: questions of owners over what happened, as JSON, CSV or Parquet. */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import { isoTime } from '../../schemas/wire/common.js';
import type { ApiDependencies } from '../dependencies.js';
import { accepted, described } from '../describe.js';
import { type Asker, createAsker } from './answers.js';
import { defaultJsonRows, type FileForm, formSchema, readForm, readRowLimit } from './forms.js';
import { dwellTimes } from './queries/dwell-times.js';
import { entries } from './queries/entries.js';
import { flows } from './queries/flows.js';
import { inside } from './queries/inside.js';
import { locations } from './queries/locations.js';
import { uniqueUsers } from './queries/unique-users.js';
import { visits } from './queries/visits.js';
import type { Inquiry, Question } from './query.js';
import { type Range, rangeParameters, rangeSchema, readRange } from './range.js';

export const questions: readonly Question[] = [visits, dwellTimes, entries, uniqueUsers, flows, inside, locations];

const config = { authority: 'secret', limit: 'management' } as const;

interface Asked {
  readonly range: Range;
  readonly form: FileForm | null;
  readonly limit: number | null;
  readonly inquiry: Inquiry;
}

function readAsked(question: Question, request: FastifyRequest, nowMs: number): Outcome<Asked> {
  const reader = new FieldReader(request.query as RawFields);
  const { project, environment } = callerOf(request);
  const range = readRange(reader, nowMs);
  const form = readForm(reader, request.headers.accept);
  const limit = readRowLimit(reader, form);
  const { parameters, ...inquiry } = question.ask(reader);
  const bound = { ...parameters, ...rangeParameters(range), project, environment };
  return reader.outcome(() => ({ range, form, limit, inquiry: { ...inquiry, parameters: bound } }));
}

async function answer(asker: Asker, { range, inquiry, limit }: Asked & { readonly limit: number }) {
  const rows = await asker.rows(inquiry, limit);
  const times = { from: isoTime(range.fromMs), to: isoTime(range.toMs) };
  return { meta: { code: 200, hasMore: rows.length > limit, ...times, ...inquiry.meta }, rows: rows.slice(0, limit) };
}

/** As in `visits_20260301T000000Z_20260401T000000Z.csv`. */
function fileName(question: Question, { fromMs, toMs }: Range, extension: string): string {
  const [from, to] = [fromMs, toMs].map((timeMs) => isoTime(timeMs).replace(/[-:]|\.\d+/g, ''));
  return `${question.name}_${from}_${to}.${extension}`;
}

async function sendFile(
  asker: Asker,
  question: Question,
  asked: Asked & { readonly form: FileForm },
  reply: FastifyReply,
) {
  const { form, inquiry, limit, range } = asked;
  const file = await asker.file(inquiry, form, limit);
  return reply
    .header('Content-Type', form.contentType)
    .header('Content-Disposition', `attachment; filename="${fileName(question, range, form.extension)}"`)
    .send(file);
}

const answerSchema = ({ row, meta }: Question) =>
  Type.Object({
    meta: Type.Object({
      code: Type.Integer(),
      hasMore: Type.Boolean(),
      from: Type.String({ format: 'date-time' }),
      to: Type.String({ format: 'date-time' }),
      ...meta,
    }),
    rows: Type.Array(row),
  });

export const analyticsRoutes =
  ({ analytics, clock }: Pick<ApiDependencies, 'analytics' | 'clock'>): FastifyPluginAsync =>
  async (app) => {
    const asker = createAsker(analytics);
    for (const question of questions) {
      app.get(`/v1/analytics/${question.name}`, {
        config,
        schema: described({
          operationId: question.operationId,
          tag: 'analytics',
          summary: question.summary,
          description: question.description,
          querystring: Type.Object({ ...rangeSchema, ...question.parameters, ...formSchema }),
          answer: answerSchema(question),
          failures: [400],
        }),
        handler: async (request, reply) => {
          const asked = accepted(readAsked(question, request, clock()));
          const { form, limit } = asked;
          if (form !== null) return sendFile(asker, question, { ...asked, form }, reply);
          return answer(asker, { ...asked, limit: limit ?? defaultJsonRows });
        },
      });
    }
  };
