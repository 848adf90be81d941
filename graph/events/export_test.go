package events

// The statements whose plans are tested.
var (
	FetchStatement   = fetchEvents.Text
	StaleStatement   = deleteStale
	MetricsStatement = selectMetrics
)
