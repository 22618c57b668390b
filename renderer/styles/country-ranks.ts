/**
 * Ranks countries and territories by their two letters (ISO 3166-1), for schemas whose own ranks are too coarse.
 *
 * The order is by area, population and economy together, computed once from Natural Earth (public domain). The first
 * zoom follows from the area: at it, a country is wide enough for its name. Pure.
 */

/** The most important first. */
const order = (
  'CN US IN RU BR CA MX ID AU JP IR FR DE AR TR PK SA NG EG ES IT ZA GB CO DZ TH PE VE KZ UA PL PH KR VN ET SD ' +
  'CL MY BD MA CD AO SE TZ RO MM LY IQ KE UZ NO GR BO YE TW FI EC NL CM SY AF MZ AT BY UG ML CZ TD MG PT HU CI ' +
  'NZ NE GH ZM TN CU BE CH LK OM NP GT PY KP SS TM BG AE IE BF KH MN AZ DK SN BW RS PG ZW SK DO NA UY IL HN MR ' +
  'CG GN SO HR LA JO LT MW TJ KG NI GA CR BJ PA CF KW BA LV GE SV SI PR ER AL EE HT HK RW AM LB SL TG MD QA MK ' +
  'IS FJ GY JM BI SR LR SG GL GQ PS TT LS BT SZ XK CY ME LU BN BS TL GW GM MU DJ BZ NC SB BH PF VU CV AQ MT WS ' +
  'KM BB GU CW AD MO LC IM AG FO JE KI VI AX ST DM AW KY VC MP GD MV LI TO SC BM FM FK GG KN AS SM VG EH TC MH ' +
  'PW MF SX MC TF CK AI IO WF PM GS BL SH NR MS HM NU NF PN VA'
).split(' ');

/** Countries by the first zoom of their names. Those at the last zoom are smaller than the area around any city. */
const firstZooms = [
  'CN US IN RU BR CA MX ID AU IR AR SA NG EG ZA CO DZ PE VE KZ ET SD CD AO TZ LY BO ML TD NE MN MR GL AQ'.split(' '),
  (
    'JP FR DE TR PK ES IT GB TH UA PL PH VN CL MY MA SE RO MM IQ KE UZ NO YE FI EC CM AF MZ UG MG CI NZ GH ZM ' +
    'OM PY SS TM BF BW PG ZW NA CG GN SO LA GA CF'
  ).split(' '),
  (
    'KR BD GR SY AT BY CZ PT HU TN CU LK NP GT KP BG AE IE KH AZ SN RS UY HN JO LT MW TJ KG NI BJ PA LV GE ER ' +
    'SL TG IS FJ GY SR LR EH'
  ).split(' '),
  'TW NL BE CH DK SK DO IL HR CR KW BA SV SI AL EE HT RW AM MD MK BI GQ LS BT SZ TL GW DJ BZ NC SB'.split(' '),
  'PR LB QA JM PS TT XK CY ME BN BS GM VU CV FK TF GS'.split(' '),
  (
    'HK SG LU MU BH PF MT WS KM BB GU CW AD MO LC IM AG FO JE KI VI AX ST DM AW KY VC MP GD MV LI TO SC BM FM ' +
    'GG KN AS SM VG TC MH PW MF SX MC CK AI IO WF PM BL SH NR MS HM NU NF PN VA'
  ).split(' '),
];

/** Number of countries up to each rank but the last. */
const upToRank = [11, 35, 75, 110, 155];

/** How important the name of a country is. `region` has two letters (ISO 3166-1). */
export interface CountryRank {
  readonly region: string;
  /** Position in the order, from 0. */
  readonly position: number;
  /** 1 for the most important ones to 6. */
  readonly rank: number;
  /** First zoom of the name, 0 to 5. */
  readonly minZoom: number;
}

/** First zoom of microstates. */
export const microstateZoom = firstZooms.length - 1;

/** Returns all ranked countries, the most important first. */
export const countryRanks: readonly CountryRank[] = order.map((region, position) => ({
  region,
  position,
  rank: 1 + upToRank.filter((count) => position >= count).length,
  minZoom: firstZooms.findIndex((regions) => regions.includes(region)),
}));

const byRegion = new Map(countryRanks.map((each) => [each.region, each]));

/** Returns the rank of a country. One that is not ranked comes last. */
export function countryRank(region: string): CountryRank {
  return byRegion.get(region) ?? { region, position: order.length, rank: upToRank.length + 1, minZoom: microstateZoom };
}
