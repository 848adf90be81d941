package operator

import (
	"errors"
	"net/mail"
	"net/url"
	"regexp"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
)

// Bounds of operators' input; lengths in characters.
const (
	maxFeeBps       = 10_000
	maxOperatorName = 160
	maxEmail        = 254
	maxWebsite      = 2000
	maxNote         = 500
	maxTitle        = 160
	maxVersion      = 40
	maxDocument     = 200_000
	maxAnswer       = 4000
	maxUses         = 1_000_000
	// MaxTopUpMinor is the largest top-up, in minor units.
	MaxTopUpMinor = 1_000_000_000_000
)

var (
	errEmptyMail = errors.New("must say something")
	errNothing   = errors.New("must hold at least one field to change")
	errFeeBps    = errors.New("must be from 0 to 10000 basis points")
	errEmail     = errors.New("must be one plain email address, or empty")
	errWebsite   = errors.New("must be an http or https URL with a host, or empty")
	errKey       = errors.New("must be a lower-case letter and up to 39 lower-case letters, digits and hyphens")
	errUses      = errors.New("must be from 1 to 1000000")
	errTask      = errors.New("must be one of the tasks")
	errTopUp     = errors.New("must be from 1 to 1000000000000 minor units")
)

// check returns the normalized settings, the details of the audit entry, and the complaints.
func (in SettingsInput) check() (SettingsInput, map[string]any, fault.Fields) {
	wrong, changes := fault.Fields{}, map[string]any{}
	if in.FeeBps != nil && (*in.FeeBps < 0 || *in.FeeBps > maxFeeBps) {
		wrong.Add("feeBps", errFeeBps)
	}
	in.OperatorName = line(wrong, "operatorName", in.OperatorName, maxOperatorName)
	in.OperatorContactEmail = line(wrong, "operatorContactEmail", in.OperatorContactEmail, maxEmail)
	if email := in.OperatorContactEmail; email != nil && *email != "" {
		parsed, err := mail.ParseAddress(*email)
		if err != nil || parsed.Address != *email {
			wrong.Add("operatorContactEmail", errEmail)
		}
	}
	in.OperatorWebsite = line(wrong, "operatorWebsite", in.OperatorWebsite, maxWebsite)
	if website := in.OperatorWebsite; website != nil && !webAddress(*website) {
		wrong.Add("operatorWebsite", errWebsite)
	}
	setIfSent(changes, "registrationMode", in.RegistrationMode)
	setIfSent(changes, "emailGateEnabled", in.EmailGateEnabled)
	setIfSent(changes, "rewardsEnabled", in.RewardsEnabled)
	setIfSent(changes, "restoreEnabled", in.RestoreEnabled)
	setIfSent(changes, "feeBps", in.FeeBps)
	setIfSent(changes, "operatorName", in.OperatorName)
	setIfSent(changes, "operatorContactEmail", in.OperatorContactEmail)
	setIfSent(changes, "operatorWebsite", in.OperatorWebsite)
	if len(changes) == 0 {
		wrong.Add("input", errNothing)
	}
	return in, changes, wrong
}

// check returns the number of uses, the normalized note, and the complaints.
func (in InvitationInput) check() (uses int, kept string, wrong fault.Fields) {
	uses, wrong = 1, fault.Fields{}
	if in.Uses != nil {
		if uses = *in.Uses; uses < 1 || uses > maxUses {
			wrong.Add("uses", errUses)
		}
	}
	if sent := line(wrong, "note", in.Note, maxNote); sent != nil {
		kept = *sent
	}
	return uses, kept, wrong
}

// documentKey matches a document's key.
var documentKey = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)

// check returns the normalized document, and the complaints.
func (in DocumentInput) check() (DocumentInput, fault.Fields) {
	wrong := fault.Fields{}
	if !documentKey.MatchString(in.Key) {
		wrong.Add("key", errKey)
	}
	var err error
	in.Title, err = text.Line(in.Title, 1, maxTitle)
	wrong.Add("title", err)
	in.Version, err = text.Line(in.Version, 1, maxVersion)
	wrong.Add("version", err)
	in.URL, err = text.Line(in.URL, 0, maxWebsite)
	if err == nil && !webAddress(in.URL) {
		err = errWebsite
	}
	wrong.Add("url", err)
	_, err = text.Multi(in.Text, 1, maxDocument)
	wrong.Add("text", err)
	return in, wrong
}

// webAddress reports whether s is an http or https URL with a host, or empty.
func webAddress(s string) bool {
	parsed, err := url.Parse(s)
	return s == "" || (err == nil && parsed.Hostname() != "" && (parsed.Scheme == "http" || parsed.Scheme == "https"))
}

func line(wrong fault.Fields, field string, sent *string, longest int) *string {
	if sent == nil {
		return nil
	}
	kept, err := text.Line(*sent, 0, longest)
	wrong.Add(field, err)
	return &kept
}

// setIfSent adds a field to the details of an audit entry if it was sent.
func setIfSent[Value any](details map[string]any, field string, sent *Value) {
	if sent != nil {
		details[field] = *sent
	}
}
