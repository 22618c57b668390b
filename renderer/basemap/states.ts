/** Creates the labels of the states of four large countries. Natural Earth's package has their middles. Pure. */

import type { Feature, Point } from 'geojson';
import type { StateProperties, Waters } from './packages.js';

/** States by country and by the letters in the data. A few small states are left out, because their names never fit. */
const statesOf: Readonly<Record<string, string>> = {
  USA:
    'AK Alaska|AL Alabama|AR Arkansas|AZ Arizona|CA California|CO Colorado|CT Connecticut|DE Delaware|FL Florida|' +
    'GA Georgia|HI Hawaii|IA Iowa|ID Idaho|IL Illinois|IN Indiana|KS Kansas|KY Kentucky|LA Louisiana|' +
    'MA Massachusetts|MD Maryland|ME Maine|MI Michigan|MN Minnesota|MO Missouri|MS Mississippi|MT Montana|' +
    'NC North Carolina|ND North Dakota|NE Nebraska|NH New Hampshire|NJ New Jersey|NM New Mexico|NV Nevada|' +
    'NY New York|OH Ohio|OK Oklahoma|OR Oregon|PA Pennsylvania|RI Rhode Island|SC South Carolina|SD South Dakota|' +
    'TN Tennessee|TX Texas|UT Utah|VA Virginia|VT Vermont|WA Washington|WI Wisconsin|WV West Virginia|WY Wyoming',
  CAN:
    'AB Alberta|BC British Columbia|MB Manitoba|NB New Brunswick|NL Newfoundland and Labrador|NS Nova Scotia|' +
    'NT Northwest Territories|NU Nunavut|ON Ontario|PE Prince Edward Island|QC Quebec|SK Saskatchewan|YT Yukon',
  AUS: 'WA Western Australia|NT Northern Territory|SA South Australia|QL Queensland|TS Tasmania|VI Victoria|NS New South Wales',
  BRA:
    'AC Acre|RO Rondônia|RR Roraima|AM Amazonas|PA Pará|MS Mato Grosso do Sul|AP Amapá|MT Mato Grosso|PR Paraná|' +
    'GO Goiás|TO Tocantins|SP São Paulo|MA Maranhão|RJ Rio de Janeiro|PI Piauí|MG Minas Gerais|ES Espírito Santo|' +
    'BA Bahia|CE Ceará|SE Sergipe|AL Alagoas|RN Rio Grande do Norte|PE Pernambuco|PB Paraíba|SC Santa Catarina|' +
    'RS Rio Grande do Sul',
};

/** French names of Canada, where they differ. */
const frenchNames: Readonly<Record<string, string>> = {
  BC: 'Colombie-Britannique',
  NB: 'Nouveau-Brunswick',
  NL: 'Terre-Neuve-et-Labrador',
  NS: 'Nouvelle-Écosse',
  NT: 'Territoires du Nord-Ouest',
  PE: 'Île-du-Prince-Édouard',
  QC: 'Québec',
};

const names = new Map(
  Object.entries(statesOf).flatMap(([country, list]) =>
    list.split('|').map((entry) => [`${country} ${entry.slice(0, 2)}`, entry.slice(3)] as const),
  ),
);

/** Returns the labels at the middles of the states. */
export function stateLabels({ objects: { subunits } }: Waters): Feature<Point>[] {
  return subunits.geometries.flatMap(({ id, properties }): Feature<Point>[] => {
    const { gu: country, ct: middle } = properties as StateProperties;
    const name = names.get(`${country} ${id}`);
    if (name === undefined) return [];
    const french = country === 'CAN' ? frenchNames[String(id)] : undefined;
    const translated = french ? { 'name:fr': french } : {};
    return [
      { type: 'Feature', geometry: { type: 'Point', coordinates: [...middle] }, properties: { name, ...translated } },
    ];
  });
}
