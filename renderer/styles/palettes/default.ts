/** `svc-default-v1`: a street map in calm colours. */
import type { LabelColors, Palette, PaletteColor } from '../palette.js';

const halo = '#ffffff';
const label = (text: PaletteColor, around: PaletteColor = halo): LabelColors => ({ text, halo: around });

const street = { fill: '#ffffff', casing: '#cfc7ba' };
const primary = { fill: '#fde29a', casing: '#d8b65c' };
const motorway = { fill: '#f6b46c', casing: '#cf8843' };

/** The colours of `svc-default-v1`. */
export const defaultPalette: Palette = {
  land: '#f7f4ee',
  water: '#a3cfe6',
  areas: {
    residential: '#f3efe8',
    farmland: '#f2efda',
    grass: '#dcecca',
    wood: '#c6dfb8',
    wetland: '#d0e4d4',
    rock: '#e6e2da',
    sand: '#f4e8c9',
    ice: '#fafcfd',
    military: '#ebe1d8',
    airport: '#e6e8ee',
    railway: '#edebe9',
    industrial: '#efecf2',
    commercial: '#f6ece6',
    education: '#f5eed8',
    hospital: '#fbe8e5',
    park: '#c3e6b2',
    cemetery: '#d2e1c4',
    pitch: '#aedb9d',
    parking: '#efedea',
    pedestrian: '#f4f1f4',
  },
  building: '#e5ded3',
  buildingEdge: '#cbc1b1',
  pier: '#efeae1',
  runway: '#cfd4de',
  roads: {
    path: { fill: '#cfb290', casing: '#f7f4ee' },
    track: { fill: '#c8b18e', casing: '#f7f4ee' },
    pedestrian: { fill: '#ffffff', casing: '#cec6c2' },
    service: { fill: '#ffffff', casing: '#d9d2c7' },
    minor: street,
    tertiary: street,
    secondary: { fill: '#fff4c8', casing: '#d3c183' },
    primary_link: primary,
    primary,
    trunk: { fill: '#fbcd80', casing: '#d49c4e' },
    motorway_link: motorway,
    motorway,
  },
  distantRoad: '#f4c48c',
  tunnelOpacity: 0.45,
  rail: '#b5b1af',
  transit: '#b9aec0',
  ferry: '#6fa6c4',
  border: '#8a7d97',
  stateBorder: '#afa4b8',
  shields: {
    motorway: { fill: '#3f66ad', border: '#ffffff', text: '#ffffff' },
    trunk: { fill: '#3b7a56', border: '#ffffff', text: '#ffffff' },
    national: { fill: '#ffffff', border: '#8f8877', text: '#4a463e' },
    regional: { fill: '#ffffff', border: '#aaa293', text: '#5a554c' },
  },
  labels: {
    country: label('#57497a'),
    state: label('#8a7d9c'),
    city: label('#262b33'),
    place: label('#454b56'),
    road: label('#524d44'),
    water: label('#2d6a92', '#d6eaf4'),
    houseNumber: label('#7a7266', '#f4f0ea'),
    pois: {
      airport: label('#4c5d88'),
      transit: label('#3f5f9e'),
      green: label('#3a7431'),
      hospital: label('#b0463d'),
      education: label('#7d6630'),
      culture: label('#84517c'),
      civic: label('#5f5b57'),
    },
  },
};
