/** `svc-light-v1`: almost white, as background for overlays. */
import type { LabelColors, Palette, PaletteColor } from '../palette.js';

const halo = '#fafaf9';
const label = (text: PaletteColor, around: PaletteColor = halo): LabelColors => ({ text, halo: around });

const green = '#d6e5ce';
const built = '#efefed';
const street = { fill: '#ffffff', casing: '#d3d3cf' };
const major = { fill: '#ffffff', casing: '#c3c3be' };
const motorway = { fill: '#f7f4ec', casing: '#adada7' };

/** The colours of `svc-light-v1`. */
export const lightPalette: Palette = {
  land: '#f4f4f2',
  water: '#c4d1d9',
  areas: {
    residential: '#f1f1ef',
    farmland: '#f0f1ea',
    grass: '#e6eddf',
    wood: '#dbe6d4',
    wetland: '#dfe8e3',
    rock: '#e9e9e7',
    sand: '#f1eee3',
    ice: '#fafbfb',
    military: built,
    airport: '#e8e9ec',
    railway: built,
    industrial: built,
    commercial: '#f1efed',
    education: '#f0efe8',
    hospital: '#f3ecea',
    park: green,
    cemetery: '#e0e7da',
    pitch: '#d2e1c9',
    parking: built,
    pedestrian: '#f7f6f6',
  },
  building: '#e1e1de',
  buildingEdge: '#cbcbc7',
  pier: '#ebebe9',
  runway: '#d4d6da',
  roads: {
    path: { fill: '#c6c3bc', casing: '#f4f4f2' },
    track: { fill: '#c4c2bb', casing: '#f4f4f2' },
    pedestrian: { fill: '#ffffff', casing: '#d3d2d3' },
    service: { fill: '#ffffff', casing: '#d7d7d4' },
    minor: street,
    tertiary: street,
    secondary: { fill: '#ffffff', casing: '#cbcbc7' },
    primary_link: major,
    primary: major,
    trunk: { fill: '#fdfcf8', casing: '#b9b9b4' },
    motorway_link: motorway,
    motorway,
  },
  distantRoad: '#cfcfcb',
  tunnelOpacity: 0.5,
  rail: '#b4b4b3',
  transit: '#c4c3c7',
  ferry: '#9aadb9',
  border: '#94949a',
  stateBorder: '#b4b4b9',
  shields: {
    motorway: { fill: '#6c7686', border: '#ffffff', text: '#ffffff' },
    trunk: { fill: '#6d766f', border: '#ffffff', text: '#ffffff' },
    national: { fill: '#fcfcfb', border: '#a3a39f', text: '#696b70' },
    regional: { fill: '#fcfcfb', border: '#aeaeaa', text: '#707276' },
  },
  labels: {
    country: label('#5f5a70'),
    state: label('#86838f'),
    city: label('#3c4047'),
    place: label('#575b63'),
    road: label('#63666b'),
    water: label('#4a6d83', '#e3eaee'),
    houseNumber: label('#828281'),
    pois: {
      airport: label('#5d6a85'),
      transit: label('#56698f'),
      green: label('#54744a'),
      hospital: label('#9c5b54'),
      education: label('#766a46'),
      culture: label('#7a6678'),
      civic: label('#686867'),
    },
  },
};
