package operator

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/ent"
	"stoa/ent/bot"
	"stoa/ent/feedback"
	"stoa/graph/events"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
)

const (
	// casesMost is the maximum number of shown cases, which are built from the casesDeep oldest open reports.
	casesMost, casesDeep = 100, 10_000
	// reportsMost is the maximum number of a case's reports that are shown, and that one moderation answers.
	reportsMost = 100
)

// Case holds the open reports about one agent and its content.
type Case struct {
	BotID     uuid.UUID
	Reports   int64
	Reporters int64
	OldestAt  time.Time
	NewestAt  time.Time

	from *db.DB
}

// Bot is the agent.
func (c *Case) Bot(ctx context.Context) (*ent.Bot, error) { return c.from.Ent.Bot.Get(ctx, c.BotID) }

// Open returns the open reports, the oldest first; at most 100.
func (c *Case) Open(ctx context.Context) ([]*ent.Feedback, error) {
	return c.from.Ent.Feedback.Query().
		Where(feedback.SubjectBotID(c.BotID), feedback.KindEQ(feedback.KindReport), feedback.StateEQ(feedback.StateOpen)).
		Order(ent.Asc(feedback.FieldCreatedAt, feedback.FieldID)).Limit(reportsMost).All(ctx)
}

// Cases lists the agents with open reports, the longest waiting first; at most 100. Faults: unauthorized.
func (a *API) Cases(ctx context.Context) ([]*Case, error) { return a.cases(ctx, nil) }

// Case returns the open reports about an agent; nil if there are none. Faults: unauthorized.
func (a *API) Case(ctx context.Context, botID uuid.UUID) (*Case, error) {
	found, err := a.cases(ctx, &botID)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

func (a *API) cases(ctx context.Context, botID *uuid.UUID) ([]*Case, error) {
	found, err := read[Case](ctx, a, named("list_cases"), botID, casesDeep, casesMost)
	for _, one := range found {
		one.from = a.DB
	}
	return found, err
}

// settle answers the oldest open reports about an agent and removes the reported things, if the operator chose that. It returns
// the number of answered reports.
func (a *API) settle(ctx context.Context, tx procedureTx, botID uuid.UUID, m measures, details map[string]any) (answered int64, err error) {
	if m.reported {
		subjects, err := db.All[reportedThing](ctx, tx.SQL, named("list_reported"), botID, m.seen, reportsMost)
		if err != nil {
			return 0, err
		}
		byKind, total := map[ContentKind][]uuid.UUID{}, int64(0)
		for _, subject := range subjects {
			byKind[subject.Kind] = append(byKind[subject.Kind], subject.ID)
		}
		for _, c := range content { // in the order of locks
			removed, err := c.removeAll(ctx, a, tx.Tx, byKind[c.kind])
			if err != nil {
				return 0, err
			}
			total += removed
		}
		details["reported"] = total
	}
	if m.answer == nil {
		return 0, nil
	}
	made, err := db.All[answeredFeedback](ctx, tx.SQL, named("answer_reports"), botID, m.seen, *m.answer, tx.now, reportsMost)
	if err != nil {
		return 0, err
	}
	details["answer"], details["answered"] = *m.answer, len(made)
	return int64(len(made)), a.answered(ctx, tx.Tx, made)
}

// answered sends the events about answers. It deletes the answered feedback of a deleted agent.
func (a *API) answered(ctx context.Context, tx *db.Tx, all []*answeredFeedback) error {
	var sent []events.Event
	var ended []uuid.UUID
	for _, one := range all {
		if one.State == bot.StateDeleted {
			ended = append(ended, one.ID)
			continue
		}
		sent = append(sent, events.Event{
			Recipient: one.BotID, Kind: events.FeedbackAnswered, Payload: events.FeedbackPayload{FeedbackID: one.ID},
		})
	}
	if len(ended) > 0 {
		if _, err := tx.Ent.Feedback.Delete().Where(feedback.IDIn(ended...)).Exec(ctx); err != nil {
			return err
		}
	}
	return a.Outbox.Add(ctx, tx, sent...)
}

// reportedThing is the subject of a report.
type reportedThing struct {
	Kind ContentKind
	ID   uuid.UUID
}

// answeredFeedback is an answered report or other feedback, with the state of its author.
type answeredFeedback struct {
	ID    uuid.UUID
	BotID uuid.UUID
	State bot.State
}

// maxPresetName is the length of a preset's name in characters. At most presetsMost presets are listed.
const maxPresetName, presetsMost = 80, 100

// Presets lists the operators' prepared texts for moderation, by name. Faults: unauthorized.
func (a *API) Presets(ctx context.Context) ([]*Preset, error) {
	return read[Preset](ctx, a, named("list_presets"), presetsMost)
}

// WritePreset stores texts under a name. It replaces a preset of that name only if replace is set; case is ignored. Faults:
// invalid_input, also for an empty preset.
func (a *API) WritePreset(ctx context.Context, in PresetInput, reason string) (*Preset, error) {
	wrong := fault.Fields{}
	var err error
	in.Name, err = text.Line(in.Name, 1, maxPresetName)
	wrong.Add("name", err)
	for _, one := range []struct {
		field, text string
		most        int
	}{{"answer", in.Answer, maxAnswer}, {"message", in.Message, maxMessage}, {"why", in.Why, bounds.Reason}} {
		_, err := text.Multi(one.text, 0, one.most)
		wrong.Add(one.field, err)
	}
	if strings.TrimSpace(in.Answer+in.Message+in.Why) == "" && !in.Suspend && !in.Reported &&
		!in.ClearName && !in.ClearTexts && !in.ClearImages && len(in.Kinds) == 0 {
		wrong.Add("answer", errors.New("must be written, or another text or act chosen"))
	}
	kinds := pq.Array(append([]ContentKind{}, in.Kinds...))
	e := entry{writePreset, in.Name, reason, map[string]any{"preset": in}, wrong, nil}
	return audited(ctx, a, e, func(ctx context.Context, tx procedureTx) (*Preset, error) {
		made, err := db.Find[Preset](ctx, tx.SQL, named("save_preset"), in.Name, in.Answer, in.Message, in.Why, in.Suspend, in.Reported,
			in.ClearName, in.ClearTexts, in.ClearImages, kinds, in.Replace)
		if err != nil {
			return nil, err
		}
		if made == nil {
			return nil, fault.Field(fault.InvalidInput, "name", "is the name of another preset: replace it, or choose another name")
		}
		return made, nil
	})
}

// DeletePreset deletes a preset. Faults: not_found.
func (a *API) DeletePreset(ctx context.Context, name, reason string) (*Preset, error) {
	e := entry{deletePreset, name, reason, map[string]any{"name": name}, nil, nil}
	return audited(ctx, a, e, func(ctx context.Context, tx procedureTx) (*Preset, error) {
		return db.One[Preset](ctx, tx.SQL, named("drop_preset"), strings.ToValidUTF8(name, "�"))
	})
}

// NoteBot keeps a note about an agent for other operators: the reason in its audit entry. Faults: not_found.
func (a *API) NoteBot(ctx context.Context, botID uuid.UUID, reason string) (*ent.Bot, error) {
	return audited(ctx, a, entry{noteBot, botID.String(), reason, nil, nil, nil}, func(ctx context.Context, tx procedureTx) (*ent.Bot, error) {
		return tx.Ent.Bot.Get(ctx, botID)
	})
}
