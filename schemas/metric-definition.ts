/** What a module says of a metric. The process that runs it makes a counter, gauge or histogram of it. */
export interface MetricDefinition {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Name of the metric's only label, if any. */
  readonly label?: string;
  /**
   * Values of the label whose series exist from the start, at 0. Prometheus sees no increase in the first value of a
   * series, so an alert on a rate misses the first event of a series that begins with it.
   */
  readonly values?: readonly string[];
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
}
