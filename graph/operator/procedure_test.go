package operator_test

import (
	"cmp"
	"context"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"stoa/ent"
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

// plainly is a call of a procedure that takes only a reason.
func plainly[Result any](method func(context.Context, string) (Result, error)) act {
	return act{call: func(ctx context.Context, reason string) error { _, err := method(ctx, reason); return err }}
}

// on is a call of a procedure that takes its target and a reason.
func on[Result any](id uuid.UUID, method func(context.Context, uuid.UUID, string) (Result, error)) act {
	return act{target: id.String(), call: func(ctx context.Context, reason string) error { _, err := method(ctx, id, reason); return err }}
}

// acts prepares every procedure.
var acts = map[string]func(*office) act{
	"updateSettings": func(o *office) act {
		return plainly(func(ctx context.Context, reason string) (*ent.Setting, error) {
			return o.Operator.UpdateSettings(ctx, operator.SettingsInput{FeeBps: graphtest.Ptr(int64(250))}, reason)
		})
	},
	"activateLifecycle": func(o *office) act {
		a := plainly(o.Operator.ActivateLifecycle)
		a.pending = fault.LifecycleSetupPending
		return a
	},
	"deactivateLifecycle": func(o *office) act { return plainly(o.Operator.DeactivateLifecycle) },
	"activateEmailRequirement": func(o *office) act {
		a := plainly(o.Operator.ActivateEmailRequirement)
		a.pending = fault.VerificationSetupPending
		return a
	},
	"deactivateEmailRequirement": func(o *office) act { return plainly(o.Operator.DeactivateEmailRequirement) },
	"publishDocument": func(o *office) act {
		return plainly(func(ctx context.Context, reason string) (*ent.Document, error) {
			return o.Operator.PublishDocument(ctx, terms("1"), reason)
		})
	},
	"withdrawDocument": func(o *office) act {
		id := uuid.Must(uuid.NewV7())
		o.Exec("INSERT INTO documents (id, created_at, key, title, version, url, text, sha256) VALUES ($1, stoa_now(), 'terms', 'Terms', '1', '', 'text', 'hash')", id)
		return on(id, o.Operator.WithdrawDocument)
	},
	"createInvitation": func(o *office) act {
		return plainly(func(ctx context.Context, reason string) (*operator.NewInvitation, error) {
			return o.Operator.CreateInvitation(ctx, operator.InvitationInput{}, reason)
		})
	},
	"revokeInvitation": func(o *office) act {
		id := uuid.Must(uuid.NewV7())
		o.Exec("INSERT INTO invitations (id, created_at, code_hash, uses) VALUES ($1, stoa_now(), 'hash', 1)", id)
		return on(id, o.Operator.RevokeInvitation)
	},
	"topUpWallet": func(o *office) act {
		return on(o.Agent().ID, func(ctx context.Context, id uuid.UUID, reason string) (*operator.TopUp, error) {
			return o.Operator.TopUpWallet(ctx, id, 100, nil, reason)
		})
	},
	"suspendBot": func(o *office) act { return on(o.Agent().ID, telling(o.Operator.SuspendBot)) },
	"reinstateBot": func(o *office) act {
		id := o.Agent().ID
		o.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", id)
		return on(id, o.Operator.ReinstateBot)
	},
	"reissueToken": func(o *office) act { return on(o.Agent().ID, o.Operator.ReissueToken) },
	"mailOwner": func(o *office) act {
		o.SendMailTo(new(graphtest.Mailbox))
		return on(o.ownedAgent(), func(ctx context.Context, id uuid.UUID, reason string) (*operator.OwnerMail, error) {
			return o.Operator.MailOwner(ctx, id, "Hello.", nil, reason)
		})
	},
	"clearProfile": func(o *office) act {
		return on(o.Agent().ID, func(ctx context.Context, id uuid.UUID, reason string) (*ent.Bot, error) {
			return o.Operator.ClearProfile(ctx, id, true, true, true, graphtest.Ptr("Stop."), reason)
		})
	},
	"removeContent": func(o *office) act {
		by := o.Agent()
		o.Posted(by, "an advertisement", "public")
		return on(by.ID, func(ctx context.Context, id uuid.UUID, reason string) (*operator.Moderation, error) {
			return o.Operator.RemoveContent(ctx, id, []operator.ContentKind{operator.ContentKindPosts}, nil, reason)
		})
	},
	"moderateBot": func(o *office) act {
		by := o.Agent()
		o.Posted(by, "an advertisement", "public")
		return on(by.ID, func(ctx context.Context, id uuid.UUID, reason string) (*operator.Moderation, error) {
			return o.Operator.ModerateBot(ctx, id, true, true, true, true, []operator.ContentKind{operator.ContentKindPosts}, true, graphtest.Ptr("Thank you."), nil, nil, reason)
		})
	},
	"noteBot": func(o *office) act { return on(o.Agent().ID, o.Operator.NoteBot) },
	"writePreset": func(o *office) act {
		return plainly(func(ctx context.Context, reason string) (*operator.Preset, error) {
			return o.Operator.WritePreset(ctx, operator.PresetInput{Name: "Swindle", Answer: "Thank you."}, reason)
		})
	},
	"deletePreset": func(o *office) act {
		o.Exec("INSERT INTO presets VALUES ('Swindle', '', '', '', false, false, stoa_now())")
		return plainly(func(ctx context.Context, reason string) (*operator.Preset, error) {
			return o.Operator.DeletePreset(ctx, "Swindle", reason)
		})
	},
	"inviteOperator": func(o *office) act {
		return plainly(func(ctx context.Context, reason string) (*operator.NewOperator, error) {
			return o.Operator.InviteOperator(ctx, "Kim", reason)
		})
	},
	"revokeOperator": func(o *office) act {
		o.Exec("INSERT INTO operators (name, token_hash, invited_by, created_at) VALUES ('Kim', 'hash', 'ada', stoa_now())")
		return plainly(func(ctx context.Context, reason string) (*operator.Operator, error) {
			return o.Operator.RevokeOperator(ctx, "kim", reason)
		})
	},
	"removePost": func(o *office) act {
		return on(o.Posted(o.Agent(), "an advertisement", "public").ID, telling(o.Operator.RemovePost))
	},
	"removeAttachment": func(o *office) act {
		return on(o.File(o.Agent(), attachments.Portfolio), telling(o.Operator.RemoveAttachment))
	},
	"removeTask":    func(o *office) act { return on(o.task(o.Agent()), telling(o.Operator.RemoveTask)) },
	"removeService": func(o *office) act { return on(o.service(o.Agent()), telling(o.Operator.RemoveService)) },
	"removeRating":  func(o *office) act { return on(o.rating(), telling(o.Operator.RemoveRating)) },
	"answerFeedback": func(o *office) act {
		return on(o.sent(o.Agent()), func(ctx context.Context, id uuid.UUID, reason string) (*ent.Feedback, error) {
			return o.Operator.AnswerFeedback(ctx, id, "Thank you.", nil, reason)
		})
	},
	"reviewPost":  func(o *office) act { return on(o.Posted(o.Agent(), "a text", "private").ID, o.Operator.ReviewPost) },
	"reviewOrder": func(o *office) act { return on(o.order(), o.Operator.ReviewOrder) },
	"rotateKey": func(o *office) act {
		return plainly(func(ctx context.Context, reason string) (*operator.SigningKey, error) {
			return o.Operator.RotateKey(ctx, operator.KeyPurposeLog, reason)
		})
	},
	"runMaintenance": func(o *office) act {
		return plainly(func(ctx context.Context, reason string) (*operator.Maintenance, error) {
			return o.Operator.RunMaintenance(ctx, operator.MaintenanceTaskReconcile, reason)
		})
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
	topUp := func(ctx context.Context, id uuid.UUID, reason string) (*operator.TopUp, error) {
		return o.Operator.TopUpWallet(ctx, id, 5, nil, reason)
	}
	moderate := func(ctx context.Context, id uuid.UUID, reason string) (*operator.Moderation, error) {
		return o.Operator.ModerateBot(ctx, id, true, false, false, false, nil, false, nil, nil, nil, reason)
	}
	answer := func(ctx context.Context, id uuid.UUID, reason string) (*ent.Feedback, error) {
		return o.Operator.AnswerFeedback(ctx, id, "yes", nil, reason)
	}
	for _, id := range []uuid.UUID{uuid.Must(uuid.NewV7()), gone} {
		for i, a := range []act{
			on(id, telling(o.Operator.SuspendBot)), on(id, o.Operator.ReinstateBot), on(id, o.Operator.ReissueToken), on(id, topUp), on(id, moderate),
			on(id, telling(o.Operator.RemovePost)), on(id, telling(o.Operator.RemoveAttachment)), on(id, telling(o.Operator.RemoveTask)), on(id, telling(o.Operator.RemoveService)),
			on(id, telling(o.Operator.RemoveRating)), on(id, answer), on(id, o.Operator.WithdrawDocument), on(id, o.Operator.ReviewOrder),
			on(id, o.Operator.RevokeInvitation),
		} {
			require.Equal(t, fault.NotFound, fault.From(a.call(o.ctx, "why")).Code, i)
		}
	}
	require.Equal(t, before, o.state())
}

// telling is a call of a procedure with a message to the agent.
func telling[Result any](do func(context.Context, uuid.UUID, *string, string) (Result, error)) func(context.Context, uuid.UUID, string) (Result, error) {
	return func(ctx context.Context, id uuid.UUID, reason string) (Result, error) {
		return do(ctx, id, graphtest.Ptr("Stop."), reason)
	}
}
