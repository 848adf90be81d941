package server

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/web"
	"stoa/graph/platform/wire"
)

// fail refuses a request before any of it has run.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	known := faultOf(r.Context(), err)
	web.RefusalHeaders(w.Header(), r, known, web.JSONType)
	web.ErrorHeaders(w.Header(), known)
	writeJSON(w, known.Status(), errorAnswer{s.refusal(r.Context(), err).Errors})
}

// errorAnswer is the answer to a GraphQL request if nothing has run. It has no data.
type errorAnswer struct {
	Errors gqlerror.List `json:"errors"`
}

// refusal returns the answer with one error if nothing has run.
func (s *server) refusal(ctx context.Context, err error) Answer {
	return Answer{Errors: gqlerror.List{s.presentError(ctx, err)}}
}

func writeJSON(w http.ResponseWriter, status int, answer any) {
	raw, err := json.Marshal(answer)
	if err != nil {
		panic(err) // gqlgen has marshalled the data already, and errors always marshal
	}
	if w.Header().Get("Content-Type") == "" { // see setMediaType
		w.Header().Set("Content-Type", web.JSONType)
	}
	web.WriteBody(w, status, raw)
}

// presentError turns any error into the one that the caller sees, and logs it if an operator must know about it.
func (s *server) presentError(ctx context.Context, err error) *gqlerror.Error {
	known := faultOf(ctx, err)
	web.LogFault(ctx, s.Logger, known, err, "request_id", requestID(ctx), "path", graphql.GetPath(ctx).String())
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
		refused *wire.Error
		sent    *gqlerror.Error
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &refused):
		return fault.Body(fault.InvalidInput, refused)
	case errors.As(err, &sent) && blamesCaller(ctx, sent):
		return fault.New(fault.InvalidInput).Say(sent.Message)
	default:
		return fault.From(err)
	}
}

// blamesCaller reports whether the executor's error is caused by the request itself and not by running it. If a document does not
// fit the schema, the error has no cause; if a value does not fit its type, its path is longer than the field's.
func blamesCaller(ctx context.Context, e *gqlerror.Error) bool {
	field := graphql.GetFieldContext(ctx)
	return e.Err == nil || (field != nil && len(e.Path) > len(field.Path()))
}

// recoverPanic logs a panic and returns internal_error.
func (s *server) recoverPanic(ctx context.Context, cause any) error {
	s.Logger.Log(ctx, slog.LevelError, "panic", "request_id", requestID(ctx), "cause", cause, "stack", string(debug.Stack()))
	return fault.New(fault.InternalError)
}

// withSuggestions are the rules of validation for operators.
func withSuggestions() *rules.Rules {
	all := rules.NewDefaultRules()
	all.AddRule(plainExplorer.Name, plainExplorer.RuleFunc)
	return all
}

// withoutSuggestions returns the validation rules whose errors do not suggest similar names; gqlgen itself replaces the rules on
// fields and leaves.
func withoutSuggestions() *rules.Rules {
	all := withSuggestions()
	all.ReplaceRule(rules.KnownArgumentNamesRule.Name, rules.KnownArgumentNamesRuleWithoutSuggestions.RuleFunc)
	all.ReplaceRule(rules.KnownTypeNamesRule.Name, rules.KnownTypeNamesRuleWithoutSuggestions.RuleFunc)
	all.ReplaceRule(rules.ValuesOfCorrectTypeRule.Name, rules.ValuesOfCorrectTypeRuleWithoutSuggestions.RuleFunc)
	return all
}

// plainExplorer refuses aliases on fields of connections, of their edges, and on edges between entities: there the generated
// explorer chooses the fields to read by their names in the answer. With an alias it would answer with zeros.
var plainExplorer = core.Rule{
	Name: "PlainExplorer",
	RuleFunc: func(observers *core.Events, addError core.AddErrFunc) {
		observers.OnField(func(walker *core.Walker, field *ast.Field) {
			if field.Alias == field.Name || field.Definition == nil || field.ObjectDefinition == nil || strings.HasPrefix(field.Name, "__") {
				return
			}
			holder, held := field.ObjectDefinition, walker.Schema.Types[field.Definition.Type.Name()]
			wraps := strings.HasSuffix(holder.Name, "Connection") || strings.HasSuffix(holder.Name, "Edge")
			leads := slices.Contains(holder.Interfaces, "Node") && held != nil && held.IsCompositeType()
			if wraps || leads {
				addError(core.Message("Field %q of %s cannot have an alias.", field.Name, holder.Name), core.At(field.Position))
			}
		})
	},
}
