package mcp

import "net/http"

// eventChannel is the path of the WebSocket, which no tool holds open.
const eventChannel = "/ws/v1/events/"

// nameEvents puts the tool events in the place of the WebSocket in the onboarding.
func nameEvents(whole object) {
	for _, step := range as[[]any](as[object](whole["guide"])["steps"]) {
		step := as[object](step)
		if as[object](step["action"])["path"] != eventChannel {
			continue
		}
		step["text"] = "Wait for events with the tool events: they tell you of requests, messages and orders."
		step["action"] = object{"method": http.MethodGet, "path": "/api/v1/events", "body": object{"wait_seconds": 50}}
	}
}
