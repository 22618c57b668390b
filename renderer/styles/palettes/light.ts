/** `svc-light-v1`: almost white, as background for overlays. */

import type { LabelColors, Palette, PaletteColor } from '../palette.js';

const halo = '#fafaf9';
const label = (text: PaletteColor, around: PaletteColor = halo): LabelColors => ({ text, halo: around });

const green = '#e3ebde';
const built = '#ebebe9';
const street = { fill: '#ffffff', casing: '#dededb' };
const major = { fill: '#ffffff', casing: '#d2d2ce' };
const motorway = { fill: '#fbfaf7', casing: '#c2c2bd' };

export const lightPalette: Palette = {
  land: '#f2f2f0',
  water: '#cfd9df',
  areas: {
    residential: '#efefed',
    farmland: '#f0f1ec',
    grass: '#edf0e9',
    wood: '#e5ebe1',
    wetland: '#e6ecea',
    rock: '#ededeb',
    sand: '#f2f0e9',
    ice: '#fafbfb',
    military: built,
    airport: '#e9eaec',
    railway: built,
    industrial: built,
    commercial: '#eeecea',
    education: '#eeede8',
    hospital: '#f1ebea',
    park: green,
    cemetery: '#e7ebe4',
    pitch: '#e1e9dc',
    parking: built,
    pedestrian: '#f5f4f4',
  },
  building: '#e5e5e3',
  buildingEdge: '#d9d9d6',
  pier: '#f0f0ee',
  runway: '#dadbde',
  roads: {
    path: { fill: '#d6d4cf', casing: '#f2f2f0' },
    track: { fill: '#d3d2cc', casing: '#f2f2f0' },
    pedestrian: { fill: '#f9f9f9', casing: '#dcdbdc' },
    service: { fill: '#ffffff', casing: '#e3e3e0' },
    minor: street,
    tertiary: street,
    secondary: { fill: '#ffffff', casing: '#d8d8d4' },
    primary_link: major,
    primary: major,
    trunk: { fill: '#fdfdfb', casing: '#cacac6' },
    motorway_link: motorway,
    motorway,
  },
  tunnelOpacity: 0.5,
  rail: '#c3c3c2',
  transit: '#cdcccf',
  ferry: '#aebdc7',
  border: '#a6a6ab',
  stateBorder: '#c3c3c7',
  shields: {
    motorway: { fill: '#7d8695', border: '#ffffff', text: '#ffffff' },
    trunk: { fill: '#868d88', border: '#ffffff', text: '#ffffff' },
    national: { fill: '#fcfcfb', border: '#b3b3af', text: '#696b70' },
    regional: { fill: '#fcfcfb', border: '#c4c4c0', text: '#75777b' },
  },
  labels: {
    country: label('#6a6d75'),
    state: label('#9a9ca2'),
    city: label('#54585f'),
    place: label('#74777e'),
    road: label('#85878b'),
    water: label('#7f99a9', '#e3eaee'),
    houseNumber: label('#a9a9a8'),
    pois: {
      airport: label('#858c9c'),
      transit: label('#858c9c'),
      green: label('#7f9477'),
      hospital: label('#a98783'),
      education: label('#989078'),
      culture: label('#948793'),
      civic: label('#919190'),
    },
  },
};
