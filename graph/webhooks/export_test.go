package webhooks

// Exported for tests.
var (
	NextWait        = nextWait
	ParseRetryAfter = parseRetryAfter
	CheckURL        = checkURL
)

// MaxRetryAfter is exported for tests.
const MaxRetryAfter = maxRetryAfter
