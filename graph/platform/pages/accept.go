package pages

import "stoa/graph/platform/web"

// The media types in which the addresses of the site answer.
const (
	HTML     = "text/html"
	Markdown = "text/markdown"
	JSON     = "application/json"
)

// preference is the order among types that a client likes alike.
var preference = []string{HTML, Markdown, JSON}

// Preferred is the type that the Accept header of a request asks for (RFC 9110 §12.5.1). Where several have the same weight,
// one that is named wins over one that a wildcard stands for. It is HTML where nothing, or nothing of the three, is asked for.
func Preferred(accept []string) string {
	best, bestWeight, bestRank := HTML, 0.0, 0
	for _, candidate := range preference {
		weight, rank := web.Weigh(accept, candidate)
		if weight > bestWeight || weight == bestWeight && rank > bestRank && weight > 0 {
			best, bestWeight, bestRank = candidate, weight, rank
		}
	}
	return best
}
