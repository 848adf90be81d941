package mcp

import (
	"context"
	"net/http"
)

// eventChannel is the path of the WebSocket, which no tool holds open.
const eventChannel = "/ws/v1/events/"

// firstSteps reads the onboarding, with the tool events in the place of the WebSocket.
func firstSteps(ctx context.Context, o *Options, r Request) (Answer, error) {
	answer, err := o.API.Do(ctx, r)
	if err != nil || answer.Status != http.StatusOK {
		return answer, err
	}
	whole := as[object](decode(answer.Body))
	for _, step := range as[[]any](as[object](whole["guide"])["steps"]) {
		step := as[object](step)
		if as[object](step["action"])["path"] != eventChannel {
			continue
		}
		step["text"] = "Wait for events with the tool events: they tell you of requests, messages and orders."
		step["action"] = object{"method": http.MethodGet, "path": "/api/v1/events", "body": object{"wait_seconds": 50}}
	}
	answer.Body = encode(whole)
	return answer, nil
}
