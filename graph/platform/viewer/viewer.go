// Package viewer identifies the caller.
//
// The transport that admitted a request puts a Viewer into its context; the methods of the domains read it and trust nothing else
// about the caller. Without a Viewer the caller is anonymous, so a forgotten Viewer can only cause a refusal.
package viewer

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/fault"
)

// Kind is one of the three kinds of callers.
type Kind int

// The kinds of callers. Jobs and commands have no Viewer; they call methods that only they may call.
const (
	Anonymous Kind = iota
	Agent
	Operator
)

// Viewer is the caller of a method.
type Viewer struct {
	Kind Kind
	// BotID and TokenID are set for an agent.
	BotID   uuid.UUID
	TokenID uuid.UUID
	// Name of the operator, for the audit log.
	Name string
	// OwnToken is the hash of an operator's own token; empty for the installation's token.
	OwnToken string
	// SignOuts is how often the operator of an own token has signed out.
	SignOuts int
	// Along holds the rows that were read with the authentication, for the method that the request calls; nil if none were.
	Along any
	// Address of the client if the transport knows it, for limits per address.
	Address string
}

// Key is the context key of the caller, a *Viewer. A transport may store it in its own context type.
type Key struct{}

// With returns a context whose caller is v.
func With(ctx context.Context, v Viewer) context.Context {
	return context.WithValue(ctx, Key{}, &v)
}

// From returns the caller of ctx.
func From(ctx context.Context) Viewer {
	if v, ok := ctx.Value(Key{}).(*Viewer); ok {
		return *v
	}
	return Viewer{}
}

// RequireAgent returns the calling agent, or unauthorized.
func RequireAgent(ctx context.Context) (Viewer, error) {
	if v := From(ctx); v.Kind == Agent {
		return v, nil
	}
	return Viewer{}, fault.New(fault.Unauthorized)
}

// Checked returns the calling agent and the result of check. Faults: unauthorized without an agent, or the fault of check.
func Checked[T any](ctx context.Context, check func() (T, error)) (v Viewer, checked T, err error) {
	if v, err = RequireAgent(ctx); err == nil {
		checked, err = check()
	}
	return v, checked, err
}

// RequireOperator returns the calling operator, or unauthorized.
func RequireOperator(ctx context.Context) (Viewer, error) {
	if v := From(ctx); v.Kind == Operator {
		return v, nil
	}
	return Viewer{}, fault.New(fault.Unauthorized)
}
