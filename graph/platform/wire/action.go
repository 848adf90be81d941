package wire

// Action is one of the next requests that a card offers its reader: what is listed would be permitted at that moment
// (contract §2, actions).
type Action struct {
	Name   string `json:"name"`
	Method string `json:"method"`
	// Path is absolute on the current origin, under /api/v1.
	Path string `json:"path"`
	// Body is a template of the fields the server already knows; null marks what the caller must supply.
	Body map[string]any `json:"body"`
}
