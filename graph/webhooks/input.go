package webhooks

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"stoa/ent/webhook"
	"stoa/graph/events"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/text"
)

// maxURL is the length of an address in bytes.
const maxURL = 2048

var (
	errRequired  = errors.New("is required")
	errURL       = errors.New("must be a URL such as https://agent.example/hook, with ASCII characters alone")
	errLong      = errors.New("must not be longer than 2048 characters")
	errScheme    = errors.New("must begin with https://")
	errUser      = errors.New("must not hold a user name or a password")
	errFragment  = errors.New("must not hold a fragment")
	errKinds     = errors.New("must name at least one kind of event, each once")
	errKind      = errors.New("must name kinds of events, such as message.created")
	errSigning   = errors.New("must be v1 or v1a")
	errState     = errors.New("must be active or paused")
	errUnchanged = errors.New("or kinds or own or state is required")
)

// CreateInput is the body of a new webhook. A nil field was not sent.
type CreateInput struct {
	URL *string `json:"url"`
	// Kinds are all kinds of events unless sent.
	Kinds []string `json:"kinds"`
	// Own is true unless sent.
	Own *bool `json:"own"`
	// Signing is v1 unless sent.
	Signing *string `json:"signing"`
}

// check fills what was not sent. Its fault is invalid_input, naming every field that is wrong.
func (in CreateInput) check(loopback bool) (host string, kinds []string, signing webhook.Signing, err error) {
	wrong := fault.Fields{}
	if in.URL == nil {
		wrong.Add("url", errRequired)
	} else {
		host, err = checkURL(*in.URL, loopback)
		wrong.Add("url", err)
	}
	if kinds = in.Kinds; kinds == nil {
		kinds = events.Kinds()
	}
	wrong.Add("kinds", checkKinds(kinds))
	signing = webhook.SigningV1
	if in.Signing != nil {
		if signing = webhook.Signing(*in.Signing); webhook.SigningValidator(signing) != nil {
			wrong.Add("signing", errSigning)
		}
	}
	return host, kinds, signing, wrong.Fault(fault.InvalidInput)
}

// UpdateInput names a webhook and what to change of it.
type UpdateInput struct {
	WebhookID string   `json:"-" path:"webhook_id"`
	URL       *string  `json:"url"`
	Kinds     []string `json:"kinds"`
	Own       *bool    `json:"own"`
	// State is active or paused.
	State *string `json:"state"`
}

// check returns invalid_id, or invalid_input naming every field that is wrong.
func (in UpdateInput) check(loopback bool) (id uuid.UUID, host string, err error) {
	if id, err = (Input{in.WebhookID}).check(); err != nil {
		return id, "", err
	}
	wrong := fault.Fields{}
	if in.URL == nil && in.Kinds == nil && in.Own == nil && in.State == nil {
		wrong.Add("url", errUnchanged)
	}
	if in.URL != nil {
		host, err = checkURL(*in.URL, loopback)
		wrong.Add("url", err)
	}
	if in.Kinds != nil {
		wrong.Add("kinds", checkKinds(in.Kinds))
	}
	if in.State != nil && !slices.Contains(chosen, webhook.State(*in.State)) {
		wrong.Add("state", errState)
	}
	return id, host, wrong.Fault(fault.InvalidInput)
}

// Input names a webhook.
type Input struct {
	WebhookID string `json:"-" path:"webhook_id"`
}

// check returns invalid_id unless the id is a UUID.
func (in Input) check() (uuid.UUID, error) {
	id, err := text.UUID(in.WebhookID)
	if err != nil {
		return id, fault.Field(fault.InvalidID, "webhook_id", err.Error())
	}
	return id, nil
}

// DeliveriesInput names a webhook and a page of its attempts.
type DeliveriesInput struct {
	WebhookID string `json:"-" path:"webhook_id"`
	// Before is the last attempt of the previous page.
	Before page.Param `json:"-" query:"before"`
}

// check returns invalid_id unless both ids are UUIDs; before may be absent.
func (in DeliveriesInput) check() (id uuid.UUID, before *uuid.UUID, err error) {
	if id, err = (Input{in.WebhookID}).check(); err != nil {
		return id, nil, err
	}
	before, err = page.ID("before", in.Before)
	return id, before, err
}

// checkURL judges the form of an address and returns its host. Plain http is for the loopback alone, where that is allowed. What
// a host leads to is judged when a connection is made.
func checkURL(sent string, loopback bool) (host string, err error) {
	if len(sent) > maxURL {
		return "", errLong
	}
	if strings.ContainsFunc(sent, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", errURL
	}
	parsed, err := url.Parse(sent)
	if err != nil || parsed.Opaque != "" || parsed.Hostname() == "" && parsed.Scheme != "" {
		return "", errURL
	}
	switch {
	case parsed.Scheme != "https" && (parsed.Scheme != "http" || !loopback || !isLoopback(parsed.Hostname())):
		return "", errScheme
	case parsed.User != nil:
		return "", errUser
	case parsed.Fragment != "" || strings.Contains(sent, "#"):
		return "", errFragment
	}
	return parsed.Host, nil
}

// isLoopback reports whether a host is the loopback by its name, whatever the resolver says.
func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback() || strings.EqualFold(host, "localhost")
}

func checkKinds(kinds []string) error {
	known := events.Kinds()
	for i, kind := range kinds {
		if !slices.Contains(known, kind) {
			return errKind
		}
		if slices.Contains(kinds[:i], kind) {
			return errKinds
		}
	}
	if len(kinds) == 0 {
		return errKinds
	}
	return nil
}
