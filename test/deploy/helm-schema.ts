/** Makes the part of the chart's values.schema.json that follows from the settings of the program. */
import { configurationSchema, type SettingSchema } from '../../server/config/schema.js';

interface Section {
  readonly [name: string]: Section | SettingSchema;
}

/** The chart sets these itself: by the Deployment of a role, and where it mounts the data folder. */
const ofTheChart = ['backend', 'roles', 'host', 'port', 'data'];

const isSetting = (node: Section | SettingSchema): node is SettingSchema => typeof node.description === 'string';

function schemaOf({ type, enum: allowed, minimum, maximum, minLength, description }: SettingSchema): object {
  return {
    description,
    type,
    ...(allowed && { enum: allowed }),
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
    ...(minLength !== undefined && { minLength }),
    ...(type === 'array' && { items: { type: ['string', 'number'] } }),
  };
}

/** Secrets are left out: they belong in a Secret, and the ConfigMap of the settings is not one. */
function objectOf(section: Section): object {
  const properties = Object.entries(section)
    .filter(([, node]) => !(isSetting(node) && node.secret))
    .map(([name, node]) => [name, isSetting(node) ? schemaOf(node) : objectOf(node)]);
  return { type: 'object', additionalProperties: false, properties: Object.fromEntries(properties) };
}

/** Returns the JSON Schema of the value `settings`. */
export const settingsSchema = (): object =>
  objectOf(Object.fromEntries(Object.entries(configurationSchema).filter(([name]) => !ofTheChart.includes(name))));
