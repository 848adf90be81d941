package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"stoa/graph"
	"stoa/graph/attachments"
	"stoa/graph/auth"
	"stoa/graph/bots"
	"stoa/graph/contacts"
	"stoa/graph/drafts"
	"stoa/graph/events"
	"stoa/graph/exec"
	"stoa/graph/exports"
	"stoa/graph/feedback"
	"stoa/graph/lifecycle"
	"stoa/graph/messages"
	"stoa/graph/onboarding"
	"stoa/graph/operator"
	"stoa/graph/orders"
	"stoa/graph/owners"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/tracing"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/web"
	"stoa/graph/platform/wire"
	"stoa/graph/posts"
	"stoa/graph/profiles"
	"stoa/graph/ratings"
	"stoa/graph/receipts"
	"stoa/graph/services"
	"stoa/graph/tasks"
	"stoa/graph/wallet"
	"stoa/graph/webhooks"
)

// Path of the GraphQL endpoint.
const Path = "/graphql"

// serve answers one GraphQL request; record collects the limits that it meets. It reads nothing of a request without a token.
func (s *server) serve(w http.ResponseWriter, r *http.Request, record *limits.Record) outcome {
	operation := metrics.NoOperation
	failed := func(err error) outcome {
		record.Headers(w.Header())
		s.fail(w, r, err)
		known := faultOf(r.Context(), err)
		return outcome{operation, known.Status(), known.Code}
	}
	who, err := s.readCredentials(r)
	if err != nil {
		w.Header().Set("Connection", "close") // else net/http waits for the body before it answers
		return failed(err)
	}
	params, err := readRequest(w, r)
	if err != nil {
		return failed(err)
	}
	doc, refused := examineDocument(params.Query, params.OperationName)
	operation = operationOf(doc.mutating)
	ctx, cancel := db.Bounded(r.Context(), db.RequestTimeout)
	defer cancel()
	r = r.WithContext(ctx)
	v, err := s.authenticate(r, who, doc.mutating)
	if err == nil {
		err = refused
	}
	if err == nil && doc.introspects && v.Kind != viewer.Operator {
		err = fault.New(fault.Unauthorized).Say("Introspection needs the operator's token.")
	}
	if err != nil {
		return failed(err)
	}
	status, answer := s.run(viewer.With(r.Context(), v), v, params)
	record.Headers(w.Header())
	if status == http.StatusOK {
		writeJSON(w, status, answer)
	} else {
		writeJSON(w, status, errorAnswer{answer.Errors})
	}
	return outcome{operation, status, codeOf(answer)}
}

// run executes a document.
func (s *server) run(ctx context.Context, v viewer.Viewer, params *graphql.RawParams) (int, Answer) {
	executor := s.forOthers
	if v.Kind == viewer.Operator {
		executor = s.forOperators
	}
	ctx = graphql.StartOperationTrace(ctx)
	operation, refused := executor.CreateOperationContext(ctx, params)
	if len(refused) > 0 {
		refused = refused[:min(len(refused), maxErrors)]
		return http.StatusBadRequest, Answer{Errors: executor.DispatchError(graphql.WithOperationContext(ctx, operation), refused).Errors}
	}
	next, ctx := executor.DispatchOperation(ctx, operation)
	answer := next(ctx)
	if answer == nil { // the client has gone
		return http.StatusServiceUnavailable, s.refusal(ctx, fault.New(fault.ServiceUnavailable))
	}
	return http.StatusOK, Answer{answer.Errors, answer.Data}
}

// requestBody is a GraphQL request. Extensions are ignored.
type requestBody struct {
	Query         string                `json:"query"`
	OperationName wire.Nullable[string] `json:"operationName"`
	Variables     wire.Raw              `json:"variables"`
	Extensions    wire.Raw              `json:"extensions"`
}

// readRequest reads a request strictly. Faults: unsupported_media_type, payload_too_large, request_timeout, invalid_input; a
// *wire.Error is invalid_input, too (faultOf).
func readRequest(w http.ResponseWriter, r *http.Request) (*graphql.RawParams, error) {
	if err := web.RequireJSON(r.Header); err != nil {
		return nil, err
	}
	raw, err := web.ReadBody(w, r, maxBody)
	if err != nil {
		return nil, err
	}
	var sent requestBody
	if err := wire.Unmarshal(raw, &sent); err != nil {
		return nil, err
	}
	if sent.Query == "" {
		return nil, fault.Field(fault.InvalidInput, "query", "is required")
	}
	variables, err := readVariables(sent.Variables)
	if err != nil {
		return nil, err
	}
	return &graphql.RawParams{Query: sent.Query, OperationName: sent.OperationName.Value, Variables: variables, Headers: r.Header}, nil
}

// readVariables keeps numbers as text, so that no digit of a 64-bit integer is lost.
func readVariables(raw wire.Raw) (map[string]any, error) {
	variables := make(map[string]any)
	if len(raw) == 0 || raw.Kind() == 'n' {
		return variables, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&variables); err != nil {
		return nil, fault.Field(fault.InvalidInput, "variables", "must be an object")
	}
	if countValues(variables) > maxValues {
		return nil, fault.Field(fault.InvalidInput, "variables", "must hold at most "+strconv.Itoa(maxValues)+" values")
	}
	return variables, nil
}

// countValues counts a value and all values inside it.
func countValues(v any) int {
	sum := 1
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			sum += countValues(inner)
		}
	case []any:
		for _, inner := range v {
			sum += countValues(inner)
		}
	}
	return sum
}

// outcome holds the values of an answered request for metrics and traces.
type outcome struct {
	operation string
	status    int
	// code is the code of the first error; empty for none.
	code fault.Code
}

// responseType is the media type of GraphQL's own specification of HTTP.
const responseType = "application/graphql-response+json"

// setMediaType sets the Content-Type of an answer to responseType if the client names that type and prefers no other.
func setMediaType(w http.ResponseWriter, r *http.Request) {
	accept := r.Header.Values("Accept")
	w.Header().Add("Vary", "Accept")
	asked, rank := web.Weigh(accept, responseType)
	plain, _ := web.Weigh(accept, web.JSONType)
	if rank == 3 && asked > 0 && asked >= plain {
		w.Header().Set("Content-Type", responseType+"; charset=utf-8")
	}
}

// instrument counts, times and traces GraphQL requests.
func (s *server) instrument(w http.ResponseWriter, r *http.Request) {
	setMediaType(w, r)
	began := time.Now()
	r, finish := tracing.Request(s.Tracer, r)
	ctx, record := limits.WithRecord(r.Context())
	done := outcome{metrics.NoOperation, http.StatusInternalServerError, fault.InternalError} // the outcome of a panic
	defer func() {
		finish(Path, done.status, requestID(ctx))
		s.count(began, done.operation, done.code)
		s.Metrics.Limits.CountEach(record.Refused())
	}()
	done = s.serve(w, r.WithContext(ctx), record)
}

// count counts a request by the code of its first error.
func (s *server) count(began time.Time, operation string, code fault.Code) {
	s.Metrics.GraphQL.Done(time.Since(began), operation, cmp.Or(string(code), metrics.OK))
}

func operationOf(mutating bool) string {
	if mutating {
		return "mutation"
	}
	return "query"
}

// codeOf is the code of the first error of an answer.
func codeOf(answer Answer) fault.Code {
	if len(answer.Errors) == 0 {
		return ""
	}
	code, _ := answer.Errors[0].Extensions["code"].(fault.Code)
	return code
}

// traceRootField makes a span of each root field that is resolved.
func traceRootField(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	name := string(graphql.GetOperationContext(ctx).Operation.Operation) + " " + graphql.GetRootFieldContext(ctx).Field.Name
	ctx, end := tracing.Operation(ctx, name)
	defer end(nil)
	return next(ctx)
}

// The domains under different names, so that one struct can embed them all.
type (
	attachmentsAPI = attachments.API
	authAPI        = auth.API
	botsAPI        = bots.API
	contactsAPI    = contacts.API
	draftsAPI      = drafts.API
	eventsAPI      = events.API
	exportsAPI     = exports.API
	feedbackAPI    = feedback.API
	lifecycleAPI   = lifecycle.API
	messagesAPI    = messages.API
	onboardingAPI  = onboarding.API
	operatorAPI    = operator.API
	ordersAPI      = orders.API
	ownersAPI      = owners.API
	postsAPI       = posts.API
	profilesAPI    = profiles.API
	ratingsAPI     = ratings.API
	receiptsAPI    = receipts.API
	servicesAPI    = services.API
	tasksAPI       = tasks.API
	walletAPI      = wallet.API
	webhooksAPI    = webhooks.API
)

// resolver answers every field of Query and Mutation by promotion: the domain's method of the field's name. The operators' domain
// and its explorer are embedded less deep: their methods are named after entities, as are struct fields of the other domains.
type resolver struct {
	*operatorAPI
	agents
}

type agents struct{ operations }

type operations struct {
	*attachmentsAPI
	*authAPI
	*botsAPI
	*contactsAPI
	*draftsAPI
	*eventsAPI
	*exportsAPI
	*feedbackAPI
	*lifecycleAPI
	*messagesAPI
	*onboardingAPI
	*ordersAPI
	*ownersAPI
	*postsAPI
	*profilesAPI
	*ratingsAPI
	*receiptsAPI
	*servicesAPI
	*tasksAPI
	*walletAPI
	*webhooksAPI
}

type root struct{ *graph.Graph }

func (r root) resolver() resolver {
	return resolver{r.Operator, agents{operations{
		r.Attachments, r.Auth, r.Bots, r.Contacts, r.Drafts, r.Events, r.Exports, r.Feedback, r.Lifecycle, r.Messages, r.Onboarding, r.Orders,
		r.Owners, r.Posts, r.Profiles, r.Ratings, r.Receipts, r.Services, r.Tasks, r.Wallet, r.Webhooks,
	}}}
}

// Query answers the fields of Query.
func (r root) Query() exec.QueryResolver { return r.resolver() }

// Post answers the fields that operators see only on public posts.
func (r root) Post() exec.PostResolver { return operator.PostTexts{} }

// Mutation answers the fields of Mutation.
func (r root) Mutation() exec.MutationResolver { return r.resolver() }
