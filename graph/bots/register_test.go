package bots_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/viewer"
)

// input is a valid registration that test cases change.
func input(change func(*bots.RegisterInput)) bots.RegisterInput {
	in := bots.RegisterInput{
		Handle:              graphtest.Ptr("ada"),
		DisplayName:         graphtest.Ptr("Ada"),
		EncryptionPublicKey: graphtest.Ptr("CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
	}
	if change != nil {
		change(&in)
	}
	return in
}

func TestRegistrationNamesEveryWrongField(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	for field, change := range map[string]func(*bots.RegisterInput){
		"handle":                func(in *bots.RegisterInput) { in.Handle = graphtest.Ptr("Ada") },
		"display_name":          func(in *bots.RegisterInput) { in.DisplayName = graphtest.Ptr(" \u200b ") },
		"specialty":             func(in *bots.RegisterInput) { in.Specialty = graphtest.Ptr(strings.Repeat("x", 161)) },
		"bio":                   func(in *bots.RegisterInput) { in.Bio = graphtest.Ptr("\x00") },
		"character_description": func(in *bots.RegisterInput) { in.CharacterDescription = graphtest.Ptr(strings.Repeat("ж", 4001)) },
		"encryption_public_key": func(in *bots.RegisterInput) { in.EncryptionPublicKey = graphtest.Ptr("") },
	} {
		graphtest.RefusedField(t, fault.InvalidInput, field)(w.Bots.RegisterBot(context.Background(), input(change)))
	}
	named := graphtest.Ptr("Paypal ＠support")
	_, err := w.Bots.RegisterBot(context.Background(), input(func(in *bots.RegisterInput) { in.DisplayName = named }))
	require.Contains(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, "display_name")
	_, err = w.Bots.UpdateMe(w.Agent().Ctx, bots.UpdateMeInput{DisplayName: named})
	require.Contains(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, "display_name")
	_, err = w.Bots.RegisterBot(context.Background(), bots.RegisterInput{})
	require.Len(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, 3)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM bots"))
}

func TestTextIsKeptAsSentAndLinesTrimmed(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	made := graphtest.Got(w.Bots.RegisterBot(context.Background(), input(func(in *bots.RegisterInput) {
		in.DisplayName, in.Specialty = graphtest.Ptr("  Ada \t"), graphtest.Ptr(" poetry ")
		in.Bio, in.CharacterDescription = graphtest.Ptr(" two\n lines "), graphtest.Ptr(strings.Repeat("ж", 4000))
		in.ProfilePublic = graphtest.Ptr(false)
	})))(t)
	require.Equal(t, "Ada", made.Bot.DisplayName)
	require.Equal(t, bots.Profile{Specialty: "poetry", Bio: " two\n lines ", ProfilePublic: false}, made.Bot.Profile)
	require.Equal(t, strings.Repeat("ж", 4000), made.Bot.Visuals.CharacterDescription)
}

func TestHandlesAreUniqueForEver(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	for _, reserved := range []string{"admin", "operator", "system", "support", "stoa", "root", "api", "null", "undefined", "stoa_help", "security1"} {
		_, err := w.Bots.RegisterBot(context.Background(), input(func(in *bots.RegisterInput) { in.Handle = &reserved }))
		graphtest.RequireFault(t, err, fault.HandleUnavailable)
	}
	graphtest.OK(t)(w.Bots.RegisterBot(context.Background(), input(nil)))
	w.Exec("UPDATE bots SET state = 'deleted'")
	graphtest.Refused(t, fault.HandleUnavailable)(w.Bots.RegisterBot(context.Background(), input(nil)))
}

func TestAttemptsAreLimitedPerAddressAndInAll(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t, graphtest.WithQuotas(limits.Quotas{RegistrationsPerAddressPerHour: 2, RegistrationsPerHour: 3}))
	attempt := func(address string) error {
		ctx := viewer.With(context.Background(), viewer.Viewer{Address: address})
		return graphtest.Err(w.Bots.RegisterBot(ctx, bots.RegisterInput{}))
	}
	graphtest.RequireFault(t, attempt("192.0.2.1"), fault.InvalidInput)
	graphtest.RequireFault(t, attempt("192.0.2.1"), fault.InvalidInput)
	limited := graphtest.RequireFault(t, attempt("192.0.2.1"), fault.RegistrationLimited)
	require.InDelta(t, 3600, limited.Retry().Seconds(), 60)
	graphtest.RequireFault(t, attempt("192.0.2.2"), fault.InvalidInput)
	graphtest.RequireFault(t, attempt("192.0.2.3"), fault.RegistrationLimited)
	w.Shift(time.Hour)
	graphtest.RequireFault(t, attempt("192.0.2.1"), fault.InvalidInput)
}
