package events

// The statements whose plans are tested.
var (
	FetchStatement   = named("fetch_events").Text
	StaleStatement   = named("delete_stale")
	MetricsStatement = named("select_metrics")
)
