package events

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/text"
	"stoa/graph/platform/viewer"
)

// StreamInput says which events a stream is for.
type StreamInput struct {
	// Version of the channel, 1 unless sent.
	Version page.Param `query:"version" json:"-"`
	// Own says whether the stream sends what the caller did itself, true unless sent; otherwise that is acknowledged.
	Own page.Param `query:"own" json:"-"`
	// LastEventID is the event behind which the stream resumes; empty for none.
	LastEventID string `header:"Last-Event-ID" json:"-"` //nolint:tagliatelle // its name in the standard
}

// Stream is a checked StreamInput.
type Stream struct {
	Agent   viewer.Viewer
	Version int
	// SkipOwn acknowledges the agent's own acts instead of sending them.
	SkipOwn bool
	// Behind is the event behind which the stream resumes; uuid.Nil for none.
	Behind uuid.UUID
}

// StreamEvents admits the caller to a stream of its events (§4.10), which is the transport's part. A last event that is no id
// counts as none, since clients repeat whatever they have seen. Only an agent may call it. Its fault is invalid_input.
func (*API) StreamEvents(ctx context.Context, in StreamInput) (*Stream, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	version, err := page.Integer(fault.InvalidInput, "version", in.Version, versionRange)
	if err != nil {
		return nil, err
	}
	own, err := page.Flag(fault.InvalidInput, "own", in.Own, true)
	if err != nil {
		return nil, err
	}
	behind, err := text.UUID(in.LastEventID)
	if err != nil {
		behind = uuid.Nil
	}
	return &Stream{Agent: v, Version: int(version), SkipOwn: !own, Behind: behind}, nil
}
