/**
 * The query parameters that published SDKs append and Fenceline does not use. They are ignored, because an installed
 * app cannot stop sending them. All other undeclared parameters are refused. Unknown keys in the bodies of SDK calls
 * are always ignored.
 */

/** Maps the URL of a route to the names of its ignored parameters and the SDKs that send them. */
export const sdkParameters: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/v1/config': {
    deviceId: 'web: the device',
    installId: 'web, iOS, Android: the installation',
    sessionId: 'web, iOS, Android: the session',
    id: 'iOS, Android: `_id` of the last user; iOS writes an unset one as (null)',
    locationAuthorization: 'web, iOS, Android: the permission that the app has',
    locationAccuracyAuthorization: 'iOS, Android: whether positions are precise',
    notificationAuthorization: 'iOS: whether the app may notify',
    usage: 'iOS, Android: what made the SDK ask, such as initialize or track',
    userId: 'iOS, Android 3.0: the user',
    verified: 'iOS, Android: whether verified calls are used, which do not exist here',
  },
  '/v1/search/autocomplete': {
    expandUnits: 'web: always true by now, whatever it says',
    mailable: 'web, iOS, Android: only addresses that get mail, which geocoders do not know',
    sessionToken: 'web: the session that the request belongs to',
  },
  '/v1/search/places': {
    country: 'iOS, Android: codes of countries, which places of a catalogue do not have',
    chainMetadata: 'iOS, Android: chainMetadata[key]=value, metadata of chains, which a catalogue does not have',
  },
  '/v1/route/matrix': {
    geometry: 'web 3: the form of routes, which a matrix does not have',
  },
  '/v1/search/beacons': {
    installId: 'Android: the installation',
  },
};
