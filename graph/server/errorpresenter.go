package server

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"runtime/debug"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/wire"
)

// present turns any error into what the caller is shown of it, and logs what an operator must know of.
func (s *server) present(ctx context.Context, err error) *gqlerror.Error {
	known := faultOf(ctx, err)
	s.note(ctx, known, err)
	shown := &gqlerror.Error{Message: known.Text(), Path: graphql.GetPath(ctx), Extensions: map[string]any{"code": known.Code}}
	if placed := new(gqlerror.Error); errors.As(err, &placed) {
		shown.Locations = placed.Locations
		if placed.Path != nil {
			shown.Path = placed.Path
		}
	}
	if len(known.Fields) > 0 {
		shown.Extensions["fields"] = known.Fields
	}
	if wait := known.Retry(); wait > 0 {
		shown.Extensions["retryAfter"] = int(math.Ceil(wait.Seconds()))
	}
	return shown
}

// faultOf classifies an error.
func faultOf(ctx context.Context, err error) *fault.Error {
	var (
		known   *fault.Error
		paging  *page.Error
		refused *wire.Error
		sent    *gqlerror.Error
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &paging):
		return fault.Field(fault.InvalidPagination, paging.Field, paging.Reason)
	case errors.As(err, &refused):
		return fault.Body(fault.InvalidInput, refused)
	case errors.As(err, &sent) && blamesCaller(ctx, sent):
		return fault.New(fault.InvalidInput).Say(sent.Message)
	default:
		return fault.From(err)
	}
}

// blamesCaller tells an error that the executor made of what was sent from one that came up while it ran: a document that does
// not fit the schema has no cause, and a value that does not fit its type has a path that leads on from the field.
func blamesCaller(ctx context.Context, e *gqlerror.Error) bool {
	field := graphql.GetFieldContext(ctx)
	return e.Err == nil || (field != nil && len(e.Path) > len(field.Path()))
}

func (s *server) note(ctx context.Context, known *fault.Error, err error) {
	switch known.Code {
	case fault.InternalError, fault.LedgerConflict:
		s.Logger.ErrorContext(ctx, "operation failed", "request_id", requestID(ctx), "path", graphql.GetPath(ctx).String(), "error", err)
	case fault.ServiceUnavailable, fault.RegistrationUnavailable:
		if ctx.Err() == nil {
			s.Logger.WarnContext(ctx, "operation refused", "request_id", requestID(ctx), "path", graphql.GetPath(ctx).String(), "error", err)
		}
	}
}

// recovered turns a defect in a method into internal_error.
func (s *server) recovered(ctx context.Context, cause any) error {
	s.Logger.Log(ctx, slog.LevelError, "panic", "request_id", requestID(ctx), "cause", cause, "stack", string(debug.Stack()))
	return fault.New(fault.InternalError)
}
