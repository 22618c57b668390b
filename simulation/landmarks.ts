/**
 * San Francisco as data: real places at approximate, well-known coordinates. Stores, their names and their hours are
 * made up.
 * Positions are [longitude, latitude] in degrees, as everywhere in bodies.
 */
import type { Position } from '../schemas/json/common.js';

/** A place that is about as wide as it is long. */
export interface Landmark {
  readonly name: string;
  readonly center: Position;
  readonly radiusM: number;
}

/** A place with a shape of its own. The ring is open here: its first corner isn't repeated. */
export interface Area {
  readonly name: string;
  readonly ring: readonly Position[];
}

/** A shopping street: stores stand along the line between its ends. */
export interface Corridor {
  readonly name: string;
  readonly from: Position;
  readonly to: Position;
  readonly stores: number;
}

/** The way the streets run: degrees that "east" of the grid is turned counter-clockwise from true east. */
interface StreetGrid {
  readonly name: string;
  readonly center: Position;
  readonly turnDeg: number;
}

/** Stadiums and arenas. */
export const stadiums: readonly Landmark[] = [
  { name: 'Oracle Park', center: [-122.3893, 37.7786], radiusM: 170 },
  { name: 'Chase Center', center: [-122.3877, 37.768], radiusM: 130 },
  { name: 'Kezar Stadium', center: [-122.4562, 37.7669], radiusM: 110 },
];

/** Stations of BART, Muni and Caltrain. */
export const stations: readonly Landmark[] = [
  { name: 'Embarcadero Station', center: [-122.3971, 37.7929], radiusM: 90 },
  { name: 'Montgomery Street Station', center: [-122.4011, 37.7894], radiusM: 90 },
  { name: 'Powell Street Station', center: [-122.408, 37.7844], radiusM: 100 },
  { name: 'Civic Center Station', center: [-122.4138, 37.7796], radiusM: 90 },
  { name: '16th Street Mission Station', center: [-122.4197, 37.765], radiusM: 80 },
  { name: '24th Street Mission Station', center: [-122.4184, 37.7525], radiusM: 80 },
  { name: 'Glen Park Station', center: [-122.4338, 37.7331], radiusM: 80 },
  { name: 'Balboa Park Station', center: [-122.4475, 37.7215], radiusM: 100 },
  { name: 'Caltrain 4th and King', center: [-122.3943, 37.7764], radiusM: 140 },
  { name: 'Caltrain 22nd Street', center: [-122.3925, 37.7575], radiusM: 70 },
  { name: 'Salesforce Transit Center', center: [-122.3963, 37.7897], radiusM: 150 },
  { name: 'Van Ness Station', center: [-122.4192, 37.7752], radiusM: 70 },
  { name: 'Church Station', center: [-122.4291, 37.7673], radiusM: 60 },
  { name: 'Castro Station', center: [-122.4352, 37.7626], radiusM: 70 },
  { name: 'Forest Hill Station', center: [-122.4589, 37.7482], radiusM: 70 },
  { name: 'West Portal Station', center: [-122.4655, 37.7405], radiusM: 70 },
];

/** Museums and monuments. */
export const museums: readonly Landmark[] = [
  { name: 'SFMOMA', center: [-122.4011, 37.7857], radiusM: 70 },
  { name: 'de Young Museum', center: [-122.4687, 37.7715], radiusM: 100 },
  { name: 'California Academy of Sciences', center: [-122.4661, 37.7699], radiusM: 110 },
  { name: 'Exploratorium', center: [-122.3973, 37.8017], radiusM: 120 },
  { name: 'Legion of Honor', center: [-122.5008, 37.7845], radiusM: 90 },
  { name: 'Palace of Fine Arts', center: [-122.4484, 37.8029], radiusM: 110 },
  { name: 'Coit Tower', center: [-122.4058, 37.8024], radiusM: 60 },
  { name: 'Asian Art Museum', center: [-122.4162, 37.7802], radiusM: 60 },
];

/** Hospitals. */
export const hospitals: readonly Landmark[] = [
  { name: 'UCSF Parnassus', center: [-122.4577, 37.7631], radiusM: 220 },
  { name: 'UCSF Mission Bay', center: [-122.391, 37.7665], radiusM: 200 },
  { name: 'San Francisco General', center: [-122.4048, 37.7557], radiusM: 200 },
  { name: 'CPMC Van Ness', center: [-122.4217, 37.7861], radiusM: 90 },
  { name: 'Kaiser Geary', center: [-122.4426, 37.7827], radiusM: 110 },
];

/** Universities and colleges. */
export const campuses: readonly Landmark[] = [
  { name: 'San Francisco State University', center: [-122.4782, 37.7219], radiusM: 420 },
  { name: 'University of San Francisco', center: [-122.4506, 37.7767], radiusM: 280 },
  { name: 'City College Ocean Campus', center: [-122.451, 37.7253], radiusM: 320 },
];

/** Offices that commuters go to. */
export const offices: readonly Landmark[] = [
  { name: 'Salesforce Tower', center: [-122.3969, 37.7899], radiusM: 60 },
  { name: 'Transamerica Pyramid', center: [-122.4028, 37.7952], radiusM: 50 },
  { name: '555 California Street', center: [-122.4038, 37.7921], radiusM: 60 },
  { name: 'One Market Plaza', center: [-122.3946, 37.7934], radiusM: 80 },
  { name: 'City Hall', center: [-122.4193, 37.7793], radiusM: 90 },
  { name: '1355 Market Street', center: [-122.4167, 37.7768], radiusM: 70 },
  { name: 'Ferry Building', center: [-122.3937, 37.7955], radiusM: 100 },
  { name: 'Mission Bay Labs', center: [-122.3925, 37.7693], radiusM: 120 },
  { name: 'Levi’s Plaza', center: [-122.4019, 37.8017], radiusM: 90 },
  { name: 'Showplace Square', center: [-122.4036, 37.7688], radiusM: 100 },
];

/** Airports. */
export const airports: readonly Area[] = [
  {
    name: 'San Francisco International Airport',
    ring: [
      [-122.3985, 37.6215],
      [-122.3935, 37.612],
      [-122.3715, 37.6065],
      [-122.3575, 37.6135],
      [-122.357, 37.6275],
      [-122.3705, 37.6335],
      [-122.3895, 37.6315],
    ],
  },
];

/** Parks, as rough outlines. */
export const parks: readonly Area[] = [
  {
    name: 'Golden Gate Park',
    ring: [
      [-122.5107, 37.7641],
      [-122.4772, 37.7655],
      [-122.4532, 37.7661],
      [-122.4541, 37.7747],
      [-122.48, 37.7735],
      [-122.511, 37.7714],
    ],
  },
  {
    name: 'The Panhandle',
    ring: [
      [-122.4538, 37.7714],
      [-122.4407, 37.7731],
      [-122.4409, 37.774],
      [-122.4541, 37.7724],
    ],
  },
  {
    name: 'Presidio',
    ring: [
      [-122.4844, 37.7886],
      [-122.459, 37.7885],
      [-122.4472, 37.7921],
      [-122.4466, 37.8005],
      [-122.456, 37.806],
      [-122.477, 37.8106],
      [-122.4846, 37.801],
    ],
  },
  {
    name: 'Dolores Park',
    ring: [
      [-122.4285, 37.7582],
      [-122.4258, 37.7584],
      [-122.4261, 37.7614],
      [-122.4288, 37.7612],
    ],
  },
  {
    name: 'Alamo Square',
    ring: [
      [-122.4363, 37.7752],
      [-122.433, 37.7756],
      [-122.4333, 37.7775],
      [-122.4366, 37.777],
    ],
  },
  {
    name: 'Buena Vista Park',
    ring: [
      [-122.4438, 37.7671],
      [-122.441, 37.7654],
      [-122.4386, 37.7675],
      [-122.4398, 37.7706],
      [-122.4432, 37.7703],
    ],
  },
  {
    name: 'Bernal Heights Park',
    ring: [
      [-122.42, 37.743],
      [-122.4135, 37.7412],
      [-122.4103, 37.7432],
      [-122.4142, 37.7452],
    ],
  },
  {
    name: 'McLaren Park',
    ring: [
      [-122.4296, 37.7178],
      [-122.4195, 37.7135],
      [-122.4095, 37.717],
      [-122.4118, 37.7218],
      [-122.4225, 37.7237],
    ],
  },
  {
    name: 'Lafayette Park',
    ring: [
      [-122.4292, 37.7907],
      [-122.4258, 37.7911],
      [-122.4261, 37.7927],
      [-122.4295, 37.7923],
    ],
  },
  {
    name: 'Alta Plaza',
    ring: [
      [-122.4393, 37.7903],
      [-122.436, 37.7907],
      [-122.4363, 37.7921],
      [-122.4396, 37.7917],
    ],
  },
  {
    name: 'Washington Square',
    ring: [
      [-122.4108, 37.8001],
      [-122.4092, 37.8003],
      [-122.4094, 37.8014],
      [-122.411, 37.8012],
    ],
  },
  {
    name: 'Yerba Buena Gardens',
    ring: [
      [-122.4036, 37.7848],
      [-122.4019, 37.7835],
      [-122.4005, 37.7846],
      [-122.4023, 37.786],
    ],
  },
  {
    name: 'Crissy Field',
    ring: [
      [-122.4735, 37.8051],
      [-122.4515, 37.8035],
      [-122.4512, 37.8063],
      [-122.4718, 37.8085],
    ],
  },
  {
    name: 'Fort Mason',
    ring: [
      [-122.4333, 37.8035],
      [-122.425, 37.8045],
      [-122.4253, 37.808],
      [-122.4335, 37.807],
    ],
  },
];

/** Districts, as rough outlines. */
export const districts: readonly Area[] = [
  {
    name: 'Mission District',
    ring: [
      [-122.4264, 37.7692],
      [-122.4075, 37.7695],
      [-122.4048, 37.7487],
      [-122.4228, 37.7483],
    ],
  },
  {
    name: 'SoMa',
    ring: [
      [-122.4193, 37.7748],
      [-122.3947, 37.7942],
      [-122.3882, 37.7832],
      [-122.4045, 37.7695],
    ],
  },
  {
    name: 'Financial District',
    ring: [
      [-122.4075, 37.7872],
      [-122.3935, 37.7955],
      [-122.3985, 37.799],
      [-122.4053, 37.7968],
    ],
  },
  {
    name: 'Chinatown',
    ring: [
      [-122.4085, 37.7905],
      [-122.4052, 37.7909],
      [-122.4065, 37.7978],
      [-122.4098, 37.7974],
    ],
  },
  {
    name: 'North Beach',
    ring: [
      [-122.4138, 37.7974],
      [-122.4035, 37.7982],
      [-122.4045, 37.8062],
      [-122.4155, 37.8052],
    ],
  },
  {
    name: 'Tenderloin',
    ring: [
      [-122.4194, 37.7815],
      [-122.409, 37.784],
      [-122.4098, 37.7877],
      [-122.4203, 37.7862],
    ],
  },
  {
    name: 'Nob Hill',
    ring: [
      [-122.4213, 37.7895],
      [-122.4088, 37.791],
      [-122.4097, 37.7955],
      [-122.4222, 37.794],
    ],
  },
  {
    name: 'Hayes Valley',
    ring: [
      [-122.4305, 37.7735],
      [-122.4205, 37.7748],
      [-122.4212, 37.7785],
      [-122.4313, 37.7772],
    ],
  },
  {
    name: 'Castro',
    ring: [
      [-122.4413, 37.7575],
      [-122.4285, 37.7582],
      [-122.4292, 37.7675],
      [-122.4395, 37.7655],
    ],
  },
  {
    name: 'Noe Valley',
    ring: [
      [-122.4412, 37.7472],
      [-122.4235, 37.7482],
      [-122.4243, 37.7562],
      [-122.442, 37.7552],
    ],
  },
  {
    name: 'Haight-Ashbury',
    ring: [
      [-122.453, 37.7662],
      [-122.4388, 37.7685],
      [-122.44, 37.773],
      [-122.4538, 37.7712],
    ],
  },
  {
    name: 'Inner Sunset',
    ring: [
      [-122.477, 37.7565],
      [-122.4585, 37.7572],
      [-122.4592, 37.7655],
      [-122.4775, 37.7648],
    ],
  },
  {
    name: 'Outer Sunset',
    ring: [
      [-122.5085, 37.7485],
      [-122.4778, 37.7498],
      [-122.4788, 37.7645],
      [-122.5095, 37.7635],
    ],
  },
  {
    name: 'Inner Richmond',
    ring: [
      [-122.4725, 37.7735],
      [-122.4585, 37.7745],
      [-122.4598, 37.7868],
      [-122.4735, 37.7865],
    ],
  },
  {
    name: 'Outer Richmond',
    ring: [
      [-122.5105, 37.7718],
      [-122.478, 37.7732],
      [-122.4792, 37.7865],
      [-122.508, 37.7855],
    ],
  },
  {
    name: 'Marina District',
    ring: [
      [-122.4465, 37.7972],
      [-122.4255, 37.8],
      [-122.4262, 37.8042],
      [-122.4465, 37.8038],
    ],
  },
  {
    name: 'Pacific Heights',
    ring: [
      [-122.4465, 37.788],
      [-122.4238, 37.7908],
      [-122.4247, 37.7958],
      [-122.4465, 37.7935],
    ],
  },
  {
    name: 'Potrero Hill',
    ring: [
      [-122.4062, 37.7525],
      [-122.3948, 37.7532],
      [-122.3957, 37.766],
      [-122.407, 37.7652],
    ],
  },
  {
    name: 'Dogpatch',
    ring: [
      [-122.394, 37.7532],
      [-122.3862, 37.7538],
      [-122.3868, 37.7642],
      [-122.3948, 37.764],
    ],
  },
  {
    name: 'Mission Bay',
    ring: [
      [-122.3985, 37.7648],
      [-122.3868, 37.7655],
      [-122.3875, 37.7762],
      [-122.3965, 37.7752],
    ],
  },
  {
    name: 'Bayview',
    ring: [
      [-122.4038, 37.7255],
      [-122.3825, 37.727],
      [-122.3835, 37.742],
      [-122.402, 37.7425],
    ],
  },
  {
    name: 'Excelsior',
    ring: [
      [-122.4398, 37.716],
      [-122.4235, 37.7195],
      [-122.4245, 37.7295],
      [-122.4375, 37.7285],
    ],
  },
];

/** Streets with stores: `stores` doors on both sides, about evenly spaced between the ends. */
export const corridors: readonly Corridor[] = [
  { name: 'Market Street', from: [-122.4095, 37.7838], to: [-122.3965, 37.7932], stores: 16 },
  { name: 'Valencia Street', from: [-122.4222, 37.7665], to: [-122.4208, 37.7515], stores: 18 },
  { name: 'Mission Street', from: [-122.4197, 37.7645], to: [-122.4182, 37.749], stores: 16 },
  { name: '24th Street', from: [-122.4365, 37.7513], to: [-122.4255, 37.7519], stores: 12 },
  { name: 'Castro Street', from: [-122.4353, 37.7622], to: [-122.4346, 37.7585], stores: 8 },
  { name: 'Haight Street', from: [-122.4528, 37.7692], to: [-122.4415, 37.7706], stores: 12 },
  { name: 'Irving Street', from: [-122.4772, 37.7636], to: [-122.4605, 37.7643], stores: 14 },
  { name: 'Clement Street', from: [-122.4738, 37.7824], to: [-122.4602, 37.7831], stores: 14 },
  { name: 'Geary Boulevard', from: [-122.4895, 37.7802], to: [-122.4625, 37.7813], stores: 14 },
  { name: 'Chestnut Street', from: [-122.4432, 37.8002], to: [-122.4352, 37.8012], stores: 12 },
  { name: 'Union Street', from: [-122.4385, 37.797], to: [-122.4262, 37.7986], stores: 12 },
  { name: 'Fillmore Street', from: [-122.4345, 37.7925], to: [-122.4328, 37.784], stores: 12 },
  { name: 'Polk Street', from: [-122.4222, 37.7955], to: [-122.4202, 37.7855], stores: 12 },
  { name: 'Columbus Avenue', from: [-122.4048, 37.7958], to: [-122.4135, 37.8025], stores: 12 },
  { name: 'Grant Avenue', from: [-122.4056, 37.79], to: [-122.4068, 37.797], stores: 12 },
  { name: 'Hayes Street', from: [-122.4282, 37.7764], to: [-122.4205, 37.7774], stores: 10 },
  { name: 'Taraval Street', from: [-122.4895, 37.7425], to: [-122.4685, 37.7433], stores: 10 },
  { name: 'West Portal Avenue', from: [-122.4655, 37.7402], to: [-122.4708, 37.7355], stores: 8 },
  { name: 'Cortland Avenue', from: [-122.4195, 37.739], to: [-122.4112, 37.7395], stores: 8 },
  { name: 'Third Street', from: [-122.3885, 37.7615], to: [-122.3905, 37.7385], stores: 12 },
  { name: 'Fourth Street', from: [-122.4048, 37.7838], to: [-122.3945, 37.7758], stores: 12 },
];

/** The city's famous quarrel of grids: north of Market, south of Market, and the straight ones. */
export const streetGrids: readonly StreetGrid[] = [
  { name: 'north of Market', center: [-122.418, 37.793], turnDeg: 9 },
  { name: 'Western Addition', center: [-122.437, 37.779], turnDeg: 8 },
  { name: 'Pacific Heights', center: [-122.438, 37.797], turnDeg: 8 },
  { name: 'SoMa', center: [-122.403, 37.781], turnDeg: -44 },
  { name: 'Mission', center: [-122.417, 37.757], turnDeg: 4 },
  { name: 'Noe Valley', center: [-122.433, 37.751], turnDeg: 3 },
  { name: 'Richmond', center: [-122.478, 37.781], turnDeg: 3 },
  { name: 'Sunset', center: [-122.485, 37.755], turnDeg: 3 },
  { name: 'Potrero', center: [-122.398, 37.759], turnDeg: 3 },
  { name: 'Bayview', center: [-122.393, 37.734], turnDeg: -32 },
  { name: 'Excelsior', center: [-122.432, 37.722], turnDeg: -38 },
];

/** The way to the airport leaves the grid: Highway 101, south from Cesar Chavez Street. */
export const highwayToAirport: readonly Position[] = [
  [-122.4057, 37.7487],
  [-122.4028, 37.7325],
  [-122.3975, 37.7115],
  [-122.3932, 37.6855],
  [-122.403, 37.6585],
  [-122.4015, 37.6365],
  [-122.3925, 37.6165],
];

/** Made-up chains with what they sell; their stores stand along the corridors. */
export const chains: readonly {
  readonly name: string;
  readonly sells: string;
  readonly opens: string;
  readonly closes: string;
}[] = [
  { name: 'Karl’s Coffee', sells: 'coffee', opens: '06:00', closes: '19:00' },
  { name: 'Foghorn Bakery', sells: 'bread', opens: '06:30', closes: '18:00' },
  { name: 'Sutro Books', sells: 'books', opens: '10:00', closes: '21:00' },
  { name: 'Cable Car Pharmacy', sells: 'medicine', opens: '08:00', closes: '22:00' },
  { name: 'Golden Gate Grocers', sells: 'groceries', opens: '07:00', closes: '23:00' },
  { name: 'Twin Peaks Tacos', sells: 'food', opens: '11:00', closes: '02:00' },
  { name: 'Sea Lion Sushi', sells: 'food', opens: '11:30', closes: '22:00' },
  { name: 'Ohlone Cycles', sells: 'bicycles', opens: '10:00', closes: '19:00' },
  { name: 'Alcatraz Records', sells: 'music', opens: '11:00', closes: '20:00' },
  { name: 'Pier Nine Fitness', sells: 'fitness', opens: '05:30', closes: '23:00' },
];

/** The namespace of the demo's Eddystone beacons. */
export const eddystoneUid = 'fe9c1e0000464e434c4e';
/** The UUID of the demo's iBeacons. */
export const ibeaconUuid = '5f0c6c1e-8f2b-4a55-9d1e-3b7a11c0ffee';
