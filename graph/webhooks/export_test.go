package webhooks

// Exported for tests.
var (
	NextWait        = nextWait
	ParseRetryAfter = parseRetryAfter
	CheckURL        = checkURL
)
