/** The configuration of the embedded Valhalla. The package would make it with a Python program. */

/** Memory for tiles, per thread that works. */
const maxCacheBytes = 268_435_456;
/** Valhalla writes no log: its answers contain the errors. */
const logging = { type: '' };
const service = { proxy: '' };

/** Metres between the points of one request. */
const limits = (maxDistanceM: number, maxMatrixDistanceM: number) => ({
  max_distance: maxDistanceM,
  max_locations: 50,
  max_matrix_distance: maxMatrixDistanceM,
  max_matrix_location_pairs: 2_500,
});
const upTransitions = { '1': 400, '2': 100 };

/**
 * Returns the configuration for a folder of tiles. The values are Valhalla's documented defaults, except for those that
 * this file names.
 */
export const valhallaConfig = (tilesFolder: string, threads = 1) => ({
  mjolnir: {
    tile_dir: tilesFolder,
    max_cache_size: maxCacheBytes,
    id_table_size: 1_300_000_000,
    concurrency: threads,
    tile_extract: '',
    traffic_extract: '',
    admin: '',
    timezone: '',
    landmarks: '',
    transit_dir: '',
    transit_feeds_dir: '',
    hierarchy: true,
    shortcuts: true,
    include_driveways: true,
    include_bicycle: true,
    include_pedestrian: true,
    include_driving: true,
    reclassify_links: true,
    data_processing: {
      infer_internal_intersections: true,
      infer_turn_channels: true,
      apply_country_overrides: true,
      grid_divisions_within_tile: 32,
      use_admin_db: true,
    },
    logging,
  },
  additional_data: { elevation: '' },
  loki: {
    actions: ['locate', 'route', 'sources_to_targets', 'isochrone', 'status'],
    use_connectivity: true,
    service_defaults: {
      radius: 0,
      minimum_reachability: 50,
      search_cutoff: 35_000,
      node_snap_tolerance: 5,
      street_side_tolerance: 5,
      street_side_max_distance: 1_000,
      heading_tolerance: 60,
    },
    logging: { ...logging, long_request: 100 },
    service,
  },
  thor: {
    source_to_target_algorithm: 'select_optimal',
    max_reserved_labels_count_astar: 2_000_000,
    max_reserved_labels_count_bidir_astar: 1_000_000,
    max_reserved_labels_count_dijkstras: 4_000_000,
    max_reserved_labels_count_bidir_dijkstras: 2_000_000,
    // Memory of a large request returns to the system.
    clear_reserved_memory: true,
    extended_search: false,
    costmatrix: {
      check_reverse_connection: true,
      allow_second_pass: false,
      max_reserved_locations: 25,
      max_iterations: 2_800,
      min_iterations: 100,
      hierarchy_limits: { max_up_transitions: upTransitions },
    },
    bidirectional_astar: {
      threshold_delta: 420,
      alternative_cost_extend: 1.2,
      alternative_iterations_delta: 100_000,
      hierarchy_limits: {
        max_up_transitions: upTransitions,
        expand_within_distance: { '0': 1e8, '1': 20_000, '2': 5_000 },
      },
    },
    unidirectional_astar: {
      hierarchy_limits: {
        max_up_transitions: upTransitions,
        expand_within_distance: { '0': 1e8, '1': 100_000, '2': 5_000 },
      },
    },
    logging: { ...logging, long_request: 110 },
    service,
  },
  odin: { logging, service, markup_formatter: { markup_enabled: false } },
  meili: {
    mode: 'auto',
    customizable: [],
    verbose: false,
    default: {
      sigma_z: 4.07,
      gps_accuracy: 5,
      beta: 3,
      max_route_distance_factor: 5,
      max_route_time_factor: 5,
      max_search_radius: 100,
      breakage_distance: 2_000,
      interpolation_distance: 10,
      search_radius: 50,
      geometry: false,
      route: true,
      turn_penalty_factor: 0,
    },
    grid: { size: 500, cache_size: 1_000 },
    logging,
    service,
  },
  service_limits: {
    auto: limits(5_000_000, 400_000),
    truck: limits(5_000_000, 400_000),
    motorcycle: limits(5_000_000, 400_000),
    bicycle: limits(500_000, 200_000),
    pedestrian: { ...limits(250_000, 200_000), min_transit_walking_distance: 1, max_transit_walking_distance: 10_000 },
    isochrone: {
      max_contours: 1,
      max_time_contour: 120,
      max_distance: 25_000,
      max_locations: 1,
      max_distance_contour: 200,
    },
    max_exclude_locations: 0,
    max_reachability: 100,
    max_radius: 200,
    max_timedep_distance: 500_000,
    max_timedep_distance_matrix: 0,
    max_alternates: 0,
    max_exclude_polygons_length: 0,
    max_distance_disable_hierarchy_culling: 0,
    status: { allow_verbose: false },
    trace: {
      max_distance: 200_000,
      max_gps_accuracy: 100,
      max_search_radius: 100,
      max_shape: 16_000,
      max_alternates: 0,
      max_alternates_shape: 100,
    },
    skadi: { max_shape: 750_000, min_resample: 10 },
    centroid: { max_distance: 200_000, max_locations: 5 },
    hierarchy_limits: {
      allow_modification: false,
      costmatrix: { max_allowed_up_transitions: upTransitions },
      unidirectional_astar: {
        max_allowed_up_transitions: upTransitions,
        max_expand_within_distance: { '0': 1e8, '1': 100_000, '2': 5_000 },
      },
      bidirectional_astar: {
        max_allowed_up_transitions: upTransitions,
        max_expand_within_distance: { '0': 1e8, '1': 20_000, '2': 5_000 },
      },
    },
    allow_hard_exclusions: false,
  },
});
