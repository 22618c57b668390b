/** JSON Schemas of addresses as SDKs receive them. */
import Type, { type Static } from 'typebox';
import { Latitude, Longitude, Point } from './common.js';

/** An address of a geocoding or autocomplete call. Parts that are not known are absent. */
export const Address = Type.Object(
  {
    latitude: Latitude,
    longitude: Longitude,
    geometry: Point,
    layer: Type.String({
      description: 'address, place, street, postalCode, neighborhood, locality, county, state or country',
    }),
    confidence: Type.String({ description: 'exact, interpolated or fallback' }),
    formattedAddress: Type.String(),
    addressLabel: Type.Optional(Type.String({ description: 'The first line: number and street, or the name' })),
    placeLabel: Type.Optional(Type.String()),
    number: Type.Optional(Type.String()),
    street: Type.Optional(Type.String()),
    neighborhood: Type.Optional(Type.String()),
    city: Type.Optional(Type.String()),
    county: Type.Optional(Type.String()),
    state: Type.Optional(Type.String()),
    stateCode: Type.Optional(Type.String()),
    postalCode: Type.Optional(Type.String()),
    country: Type.Optional(Type.String()),
    countryCode: Type.Optional(Type.String()),
    countryFlag: Type.Optional(Type.String()),
    distance: Type.Optional(Type.Number({ description: 'Metres from `near` or `coordinates`' })),
  },
  { $id: 'Address' },
);
export type Address = Static<typeof Address>;

/** Where an IP address is, as far as the database knows. */
export const IpAddress = Type.Object(
  {
    latitude: Latitude,
    longitude: Longitude,
    geometry: Point,
    accuracy: Type.Optional(Type.Number({ description: 'Metres within which the address probably is' })),
    city: Type.Optional(Type.String()),
    state: Type.Optional(Type.String()),
    stateCode: Type.Optional(Type.String()),
    postalCode: Type.Optional(Type.String()),
    country: Type.Optional(Type.String()),
    countryCode: Type.Optional(Type.String()),
    countryFlag: Type.Optional(Type.String()),
  },
  { $id: 'IpAddress' },
);
export type IpAddress = Static<typeof IpAddress>;
