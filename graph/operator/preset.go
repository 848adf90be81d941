package operator

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/ent"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
)

// maxPresetName is the length of a preset's name in characters. At most presetsMost presets are listed.
const maxPresetName, presetsMost = 80, 100

// Presets lists the operators' prepared texts for moderation, by name. Faults: unauthorized.
func (a *API) Presets(ctx context.Context) ([]*Preset, error) {
	rows, err := read[presetRow](ctx, a, named("list_presets"), presetsMost)
	return presetsOf(rows), err
}

// presetRow is a preset as statements return it.
type presetRow struct {
	Preset

	Kinds pq.StringArray
}

func presetsOf(rows []*presetRow) (all []*Preset) {
	for _, r := range rows {
		r.Preset.Kinds = []ContentKind{}
		for _, kind := range r.Kinds {
			r.Preset.Kinds = append(r.Preset.Kinds, ContentKind(kind))
		}
		all = append(all, &r.Preset)
	}
	return all
}

var (
	errEmptyPreset = errors.New("must be written, or another text or act chosen")
	errPresetTaken = errors.New("is the name of another preset: replace it, or choose another name")
)

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
		wrong.Add("answer", errEmptyPreset)
	}
	kinds := pq.StringArray{}
	for _, kind := range in.Kinds {
		kinds = append(kinds, string(kind))
	}
	e := entry{writePreset, in.Name, reason, map[string]any{"preset": in}, wrong, nil}
	return audited(ctx, a, e, func(ctx context.Context, tx *db.Tx) (*Preset, error) {
		made, err := db.All[presetRow](ctx, tx.SQL, named("save_preset"), in.Name, in.Answer, in.Message, in.Why, in.Suspend, in.Reported,
			in.ClearName, in.ClearTexts, in.ClearImages, kinds, in.Replace)
		if err != nil {
			return nil, err
		}
		if len(made) == 0 {
			return nil, fault.Field(fault.InvalidInput, "name", errPresetTaken.Error())
		}
		return presetsOf(made)[0], nil
	})
}

// DeletePreset deletes a preset. Faults: not_found.
func (a *API) DeletePreset(ctx context.Context, name, reason string) (*Preset, error) {
	e := entry{deletePreset, name, reason, map[string]any{"name": name}, nil, nil}
	return audited(ctx, a, e, func(ctx context.Context, tx *db.Tx) (*Preset, error) {
		gone, err := db.All[presetRow](ctx, tx.SQL, named("drop_preset"), strings.ToValidUTF8(name, "�"))
		if err != nil {
			return nil, err
		}
		if len(gone) == 0 {
			return nil, fault.New(fault.NotFound)
		}
		return presetsOf(gone)[0], nil
	})
}

// NoteBot keeps a note about an agent for other operators: the reason in its audit entry. Faults: not_found.
func (a *API) NoteBot(ctx context.Context, botID uuid.UUID, reason string) (*ent.Bot, error) {
	return audited(ctx, a, entry{noteBot, botID.String(), reason, nil, nil, nil}, func(ctx context.Context, tx *db.Tx) (*ent.Bot, error) {
		return tx.Ent.Bot.Get(ctx, botID)
	})
}
