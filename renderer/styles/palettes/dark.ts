/** `svc-dark-v1`: for dark pages and bright overlays. */
import type { LabelColors, Palette, PaletteColor } from '../palette.js';

const halo = '#14171b';
const label = (text: PaletteColor, around: PaletteColor = halo): LabelColors => ({ text, halo: around });

const built = '#282c32';
const street = { fill: '#5a6576', casing: '#15181c' };
const primary = { fill: '#8290a6', casing: '#14171b' };
const motorway = { fill: '#bb9c59', casing: '#121418' };

/** The colours of `svc-dark-v1`. */
export const darkPalette: Palette = {
  land: '#20242a',
  water: '#26455f',
  areas: {
    residential: '#23272d',
    farmland: '#262a22',
    grass: '#29402c',
    wood: '#234431',
    wetland: '#254340',
    rock: '#2c2f33',
    sand: '#3b382c',
    ice: '#3a424c',
    military: '#2c2a23',
    airport: '#2a2f3a',
    railway: built,
    industrial: '#282932',
    commercial: '#2b2a2d',
    education: '#2e2b22',
    hospital: '#34282b',
    park: '#285035',
    cemetery: '#2d4533',
    pitch: '#326040',
    parking: built,
    pedestrian: '#292d33',
  },
  building: '#31373f',
  buildingEdge: '#454d58',
  pier: '#2b3037',
  runway: '#3e4552',
  roads: {
    path: { fill: '#766c59', casing: '#20242a' },
    track: { fill: '#635e50', casing: '#20242a' },
    pedestrian: { fill: '#525b68', casing: '#15181c' },
    service: { fill: '#4c5562', casing: '#15181c' },
    minor: street,
    tertiary: { fill: '#647082', casing: '#15181c' },
    secondary: { fill: '#6d7a8d', casing: '#14171b' },
    primary_link: primary,
    primary,
    trunk: { fill: '#a08f66', casing: '#131519' },
    motorway_link: motorway,
    motorway,
  },
  distantRoad: '#71674a',
  tunnelOpacity: 0.4,
  rail: '#68707c',
  transit: '#60617e',
  ferry: '#3f7398',
  border: '#8b93a1',
  stateBorder: '#5a616c',
  shields: {
    motorway: { fill: '#3d5c96', border: '#14171b', text: '#eef2f9' },
    trunk: { fill: '#36644a', border: '#14171b', text: '#eaf3ed' },
    national: { fill: '#23272d', border: '#7d8590', text: '#d3d8df' },
    regional: { fill: '#23272d', border: '#5f6670', text: '#b9c0c9' },
  },
  labels: {
    country: label('#b9aad6'),
    state: label('#8f88a3'),
    city: label('#e8ecf1'),
    place: label('#c0c7d1'),
    road: label('#cad1da', '#14171b'),
    water: label('#8fbfe0', '#0f2c43'),
    houseNumber: label('#858d98'),
    pois: {
      airport: label('#9db0dc'),
      transit: label('#93aee6'),
      green: label('#86be80'),
      hospital: label('#dc9a93'),
      education: label('#c3b483'),
      culture: label('#c6a3c3'),
      civic: label('#a7adb6'),
    },
  },
};
