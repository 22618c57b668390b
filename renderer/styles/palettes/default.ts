/** `svc-default-v1`: a street map in calm colours. */

import type { LabelColors, Palette, PaletteColor } from '../palette.js';

const halo = '#ffffff';
const label = (text: PaletteColor, around: PaletteColor = halo): LabelColors => ({ text, halo: around });

const street = { fill: '#ffffff', casing: '#d5cec3' };
const primary = { fill: '#fde9a9', casing: '#dfc272' };
const motorway = { fill: '#f8bf7b', casing: '#da9a55' };

export const defaultPalette: Palette = {
  land: '#f6f3ed',
  water: '#a7d1e5',
  areas: {
    residential: '#efebe4',
    farmland: '#f3f0df',
    grass: '#dfecd0',
    wood: '#cde2c1',
    wetland: '#d6e6d8',
    rock: '#e8e4dd',
    sand: '#f4ead0',
    ice: '#fafcfd',
    military: '#ece4dc',
    airport: '#e6e8ec',
    railway: '#e9e6e3',
    industrial: '#eae6ea',
    commercial: '#f4eae4',
    education: '#f3ecd6',
    hospital: '#f8e5e2',
    park: '#cce8bd',
    cemetery: '#d7e3cb',
    pitch: '#bcdfae',
    parking: '#eeece9',
    pedestrian: '#f0edf1',
  },
  building: '#eae5dd',
  buildingEdge: '#dad2c6',
  pier: '#f0ece4',
  runway: '#d3d7df',
  roads: {
    path: { fill: '#d6bfa3', casing: '#f6f3ed' },
    track: { fill: '#cfbc9f', casing: '#f6f3ed' },
    pedestrian: { fill: '#faf7fa', casing: '#d9d2da' },
    service: { fill: '#ffffff', casing: '#dfdad1' },
    minor: street,
    tertiary: street,
    secondary: { fill: '#fff6d6', casing: '#dacda2' },
    primary_link: primary,
    primary,
    trunk: { fill: '#fad18d', casing: '#dba860' },
    motorway_link: motorway,
    motorway,
  },
  tunnelOpacity: 0.45,
  rail: '#b4b1b0',
  transit: '#b5a9b8',
  ferry: '#7fb2cd',
  border: '#94889f',
  stateBorder: '#b5abbd',
  shields: {
    motorway: { fill: '#3f66ad', border: '#ffffff', text: '#ffffff' },
    trunk: { fill: '#3b7a56', border: '#ffffff', text: '#ffffff' },
    national: { fill: '#ffffff', border: '#8f8877', text: '#4a463e' },
    regional: { fill: '#ffffff', border: '#aaa293', text: '#5a554c' },
  },
  labels: {
    country: label('#4e4a5c'),
    state: label('#85808f'),
    city: label('#2f343d'),
    place: label('#4d535e'),
    road: label('#5d584f'),
    water: label('#3f7ea6', '#d3e8f2'),
    houseNumber: label('#8f877b', '#f2eee8'),
    pois: {
      airport: label('#5a6b94'),
      transit: label('#5a6b94'),
      green: label('#47833d'),
      hospital: label('#b3554d'),
      education: label('#8a7440'),
      culture: label('#8d5f86'),
      civic: label('#6e6a66'),
    },
  },
};
