package operator_test

import (
	"cmp"
	"context"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"stoa/graph/attachments"
	"stoa/graph/exec"
	"stoa/graph/graphtest"
	"stoa/graph/operator"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// act is one valid call of a procedure, prepared on a world.
type act struct {
	// target is the id that the audit entry names; empty if it is not known beforehand.
	target string
	call   func(ctx context.Context, reason string) error
	// pending is the fault of a procedure whose setup is not possible yet; empty for all others.
	pending fault.Code
}

// acts prepares every procedure.
var acts = map[string]func(*office) act{
	"updateSettings": func(o *office) act {
		return act{call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.UpdateSettings(ctx, operator.SettingsInput{FeeBps: graphtest.Ptr(int64(250))}, reason)
			return err
		}}
	},
	"activateLifecycle": func(o *office) act {
		return act{pending: fault.LifecycleSetupPending, call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.ActivateLifecycle(ctx, reason)
			return err
		}}
	},
	"deactivateLifecycle": func(o *office) act {
		return act{call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.DeactivateLifecycle(ctx, reason)
			return err
		}}
	},
	"activateEmailRequirement": func(o *office) act {
		return act{pending: fault.VerificationSetupPending, call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.ActivateEmailRequirement(ctx, reason)
			return err
		}}
	},
	"deactivateEmailRequirement": func(o *office) act {
		return act{call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.DeactivateEmailRequirement(ctx, reason)
			return err
		}}
	},
	"publishDocument": func(o *office) act {
		return act{call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.PublishDocument(ctx, terms("1"), reason)
			return err
		}}
	},
	"withdrawDocument": func(o *office) act {
		id := uuid.Must(uuid.NewV7())
		o.Exec("INSERT INTO documents (id, created_at, key, title, version, url, text, sha256) VALUES ($1, stoa_now(), 'terms', 'Terms', '1', '', 'text', 'hash')", id)
		return act{target: id.String(), call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.WithdrawDocument(ctx, id, reason)
			return err
		}}
	},
	"createInvitation": func(o *office) act {
		return act{call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.CreateInvitation(ctx, operator.InvitationInput{}, reason)
			return err
		}}
	},
	"revokeInvitation": func(o *office) act {
		id := uuid.Must(uuid.NewV7())
		o.Exec("INSERT INTO invitations (id, created_at, code_hash, uses) VALUES ($1, stoa_now(), 'hash', 1)", id)
		return act{target: id.String(), call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.RevokeInvitation(ctx, id, reason)
			return err
		}}
	},
	"topUpWallet": func(o *office) act {
		id := o.Agent().ID
		return act{target: id.String(), call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.TopUpWallet(ctx, id, 100, nil, reason)
			return err
		}}
	},
	"suspendBot": func(o *office) act {
		id := o.Agent().ID
		return act{target: id.String(), call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.SuspendBot(ctx, id, reason)
			return err
		}}
	},
	"reinstateBot": func(o *office) act {
		id := o.Agent().ID
		o.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", id)
		return act{target: id.String(), call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.ReinstateBot(ctx, id, reason)
			return err
		}}
	},
	"reissueToken": func(o *office) act {
		id := o.Agent().ID
		return act{target: id.String(), call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.ReissueToken(ctx, id, reason)
			return err
		}}
	},
	"mailOwner": func(o *office) act {
		o.SendMailTo(new(graphtest.Mailbox))
		id := o.ownedAgent()
		return act{target: id.String(), call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.MailOwner(ctx, id, "Hello.", nil, reason)
			return err
		}}
	},
	"clearProfile": func(o *office) act {
		id := o.Agent().ID
		return act{target: id.String(), call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.ClearProfile(ctx, id, true, true, true, reason)
			return err
		}}
	},
	"removeContent": func(o *office) act {
		by := o.Agent()
		o.Posted(by, "an advertisement", "public")
		return act{target: by.ID.String(), call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.RemoveContent(ctx, by.ID, []operator.ContentKind{operator.ContentPosts}, reason)
			return err
		}}
	},
	"moderateBot": func(o *office) act {
		by := o.Agent()
		o.Posted(by, "an advertisement", "public")
		return act{target: by.ID.String(), call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.ModerateBot(ctx, by.ID, true, true, true, true, []operator.ContentKind{operator.ContentPosts}, reason)
			return err
		}}
	},
	"removePost": func(o *office) act {
		id := o.Posted(o.Agent(), "an advertisement", "public").ID
		return act{target: id.String(), call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.RemovePost(ctx, id, reason)
			return err
		}}
	},
	"removeAttachment": func(o *office) act {
		id := o.File(o.Agent(), attachments.Portfolio)
		return act{target: id.String(), call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.RemoveAttachment(ctx, id, reason)
			return err
		}}
	},
	"removeTask": func(o *office) act {
		id := o.task(o.Agent())
		return act{target: id.String(), call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.RemoveTask(ctx, id, reason)
			return err
		}}
	},
	"removeService": func(o *office) act {
		id := o.service(o.Agent())
		return act{target: id.String(), call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.RemoveService(ctx, id, reason)
			return err
		}}
	},
	"removeRating": func(o *office) act {
		id := o.rating()
		return act{target: id.String(), call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.RemoveRating(ctx, id, reason)
			return err
		}}
	},
	"answerFeedback": func(o *office) act {
		id := o.sent(o.Agent())
		return act{target: id.String(), call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.AnswerFeedback(ctx, id, "Thank you.", reason)
			return err
		}}
	},
	"reviewPost": func(o *office) act {
		id := o.Posted(o.Agent(), "a text", "private").ID
		return act{target: id.String(), call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.ReviewPost(ctx, id, reason)
			return err
		}}
	},
	"reviewOrder": func(o *office) act {
		id := o.order()
		return act{target: id.String(), call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.ReviewOrder(ctx, id, reason)
			return err
		}}
	},
	"rotateKey": func(o *office) act {
		return act{call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.RotateKey(ctx, operator.LogKey, reason)
			return err
		}}
	},
	"runMaintenance": func(o *office) act {
		return act{call: func(ctx context.Context, reason string) error {
			_, err := o.Operator.RunMaintenance(ctx, operator.Reconcile, reason)
			return err
		}}
	},
}

func TestTheTableIsTheSchema(t *testing.T) {
	t.Parallel()
	declared := make(map[string]*ast.FieldDefinition)
	for _, field := range exec.NewExecutableSchema(exec.Config{}).Schema().Mutation.Fields {
		if strings.HasPrefix(field.Position.Src.Name, "../operator/") {
			declared[field.Name] = field
		}
	}
	for _, p := range operator.Procedures() {
		field := declared[p.Name]
		require.NotNil(t, field, p.Name)
		reason := field.Arguments.ForName("reason")
		require.NotNil(t, reason, p.Name)
		require.Equal(t, "String!", reason.Type.String(), p.Name)
		require.Contains(t, acts, p.Name)
		delete(declared, p.Name)
	}
	require.Empty(t, declared)
	require.Len(t, acts, len(operator.Procedures()))
}

func TestEveryProcedureIsAudited(t *testing.T) {
	t.Parallel()
	for name, prepare := range acts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			a := prepare(o)
			before := o.state()

			for _, reason := range []string{"", " \n", "bell\a", strings.Repeat("x", 2001)} {
				wrong := graphtest.RequireFault(t, a.call(o.ctx, reason), fault.InvalidInput)
				require.Contains(t, wrong.Fields, "reason")
			}
			for _, nobody := range []context.Context{context.Background(), viewer.With(context.Background(), viewer.Viewer{Kind: viewer.Agent})} {
				graphtest.RequireFault(t, a.call(nobody, "why"), fault.Unauthorized)
			}
			require.Equal(t, before, o.state())

			if a.pending != "" {
				graphtest.RequireFault(t, a.call(o.ctx, "because\nof this"), a.pending)
				require.Equal(t, before, o.state())
				return
			}
			require.NoError(t, a.call(o.ctx, "because\nof this"))
			entries := o.entries()
			require.Len(t, entries, 1)
			require.Equal(t, "ada", entries[0].Operator)
			require.Equal(t, name, entries[0].Procedure)
			require.Equal(t, "because\nof this", entries[0].Reason)
			require.WithinDuration(t, o.Now(), entries[0].CreatedAt, day)
			require.NotNil(t, entries[0].Details)
			if a.target != "" {
				require.Equal(t, a.target, entries[0].Target)
			}
		})
	}
}

func TestNothingHappensUnaudited(t *testing.T) {
	t.Parallel()
	for name, prepare := range acts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			a := prepare(o)
			o.Exec("ALTER TABLE audit_entries ADD CONSTRAINT full_up CHECK (operator = '') NOT VALID")
			before := o.state()
			graphtest.RequireFault(t, a.call(o.ctx, "why"), cmp.Or(a.pending, fault.InternalError))
			require.Equal(t, before, o.state())
		})
	}
}

func TestTargetsThatAreNotThere(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	gone := o.Agent().ID
	o.Exec("UPDATE bots SET state = 'deleted' WHERE id = $1", gone)
	before := o.state()
	for _, id := range []uuid.UUID{uuid.Must(uuid.NewV7()), gone} {
		for name, call := range map[string]func() error{
			"suspend":   func() error { _, err := o.Operator.SuspendBot(o.ctx, id, "why"); return err },
			"reinstate": func() error { _, err := o.Operator.ReinstateBot(o.ctx, id, "why"); return err },
			"reissue":   func() error { _, err := o.Operator.ReissueToken(o.ctx, id, "why"); return err },
			"top up":    func() error { _, err := o.Operator.TopUpWallet(o.ctx, id, 5, nil, "why"); return err },
			"moderate": func() error {
				_, err := o.Operator.ModerateBot(o.ctx, id, true, false, false, false, nil, "why")
				return err
			},
			"remove post":  func() error { _, err := o.Operator.RemovePost(o.ctx, id, "why"); return err },
			"remove file":  func() error { _, err := o.Operator.RemoveAttachment(o.ctx, id, "why"); return err },
			"remove task":  func() error { _, err := o.Operator.RemoveTask(o.ctx, id, "why"); return err },
			"remove offer": func() error { _, err := o.Operator.RemoveService(o.ctx, id, "why"); return err },
			"remove stars": func() error { _, err := o.Operator.RemoveRating(o.ctx, id, "why"); return err },
			"answer":       func() error { _, err := o.Operator.AnswerFeedback(o.ctx, id, "yes", "why"); return err },
			"withdraw":     func() error { _, err := o.Operator.WithdrawDocument(o.ctx, id, "why"); return err },
			"review":       func() error { _, err := o.Operator.ReviewOrder(o.ctx, id, "why"); return err },
			"revoke":       func() error { _, err := o.Operator.RevokeInvitation(o.ctx, id, "why"); return err },
		} {
			require.Equal(t, fault.NotFound, fault.From(call()).Code, name)
		}
	}
	require.Equal(t, before, o.state())
}
