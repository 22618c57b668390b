/** `svc-dark-v1`: for dark pages and bright overlays. */

import type { LabelColors, Palette, PaletteColor } from '../palette.js';

const halo = '#16191e';
const label = (text: PaletteColor, around: PaletteColor = halo): LabelColors => ({ text, halo: around });

const built = '#2b2f35';
const street = { fill: '#474e57', casing: '#191c21' };
const primary = { fill: '#5e6671', casing: '#171a1e' };
const motorway = { fill: '#817864', casing: '#15171a' };

export const darkPalette: Palette = {
  land: '#272b30',
  water: '#0d1b27',
  areas: {
    residential: '#2a2e33',
    farmland: '#282d29',
    grass: '#283027',
    wood: '#25312a',
    wetland: '#24302e',
    rock: '#2d3033',
    sand: '#32312d',
    ice: '#333940',
    military: '#2e2c27',
    airport: '#2d3139',
    railway: built,
    industrial: '#2c2e35',
    commercial: '#2f2e30',
    education: '#302f28',
    hospital: '#332c2f',
    park: '#26352a',
    cemetery: '#29322b',
    pitch: '#2a3d2f',
    parking: built,
    pedestrian: '#2e3137',
  },
  building: '#2d3238',
  buildingEdge: '#373d44',
  pier: '#2e3339',
  runway: '#3c424c',
  roads: {
    path: { fill: '#474644', casing: '#272b30' },
    track: { fill: '#444440', casing: '#272b30' },
    pedestrian: { fill: '#42464f', casing: '#1b1e22' },
    service: { fill: '#3e444c', casing: '#1b1e22' },
    minor: street,
    tertiary: { fill: '#4d545e', casing: '#191c21' },
    secondary: { fill: '#545c66', casing: '#181b1f' },
    primary_link: primary,
    primary,
    trunk: { fill: '#6e6e69', casing: '#16191c' },
    motorway_link: motorway,
    motorway,
  },
  tunnelOpacity: 0.4,
  rail: '#41464e',
  transit: '#3c3d49',
  ferry: '#27455a',
  border: '#79808d',
  stateBorder: '#4b515b',
  shields: {
    motorway: { fill: '#3d5c96', border: '#14171b', text: '#eef2f9' },
    trunk: { fill: '#36644a', border: '#14171b', text: '#eaf3ed' },
    national: { fill: '#23272d', border: '#7d8590', text: '#d3d8df' },
    regional: { fill: '#23272d', border: '#5f6670', text: '#b9c0c9' },
  },
  labels: {
    country: label('#aab1bd'),
    state: label('#79808b'),
    city: label('#d6dbe2'),
    place: label('#aeb5bf'),
    road: label('#9299a3'),
    water: label('#5583a0', '#0d1b27'),
    houseNumber: label('#646b75'),
    pois: {
      airport: label('#8b9cc0'),
      transit: label('#8b9cc0'),
      green: label('#71a06c'),
      hospital: label('#b98580'),
      education: label('#a59a74'),
      culture: label('#a487a2'),
      civic: label('#8d9198'),
    },
  },
};
