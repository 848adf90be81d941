package operator

import (
	"context"
	"slices"
	"strings"
	"time"

	"stoa/ent"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// Procedure is one row of the table of operators' mutations.
type Procedure struct {
	// Name of the mutation and of the audit entry's procedure.
	Name string
	// Target is the kind of thing whose id the audit entry names; empty if the procedure creates its target or has none.
	Target string
}

// The table of procedures.
var (
	updateSettings             = Procedure{"updateSettings", ""}
	activateLifecycle          = Procedure{"activateLifecycle", ""}
	deactivateLifecycle        = Procedure{"deactivateLifecycle", ""}
	activateEmailRequirement   = Procedure{"activateEmailRequirement", ""}
	deactivateEmailRequirement = Procedure{"deactivateEmailRequirement", ""}
	publishDocument            = Procedure{"publishDocument", "Document"}
	withdrawDocument           = Procedure{"withdrawDocument", "Document"}
	createInvitation           = Procedure{"createInvitation", "Invitation"}
	revokeInvitation           = Procedure{"revokeInvitation", "Invitation"}
	topUpWallet                = Procedure{"topUpWallet", "Bot"}
	suspendBot                 = Procedure{"suspendBot", "Bot"}
	reinstateBot               = Procedure{"reinstateBot", "Bot"}
	reissueToken               = Procedure{"reissueToken", "Bot"}
	mailOwner                  = Procedure{"mailOwner", "Bot"}
	clearProfile               = Procedure{"clearProfile", "Bot"}
	removeContent              = Procedure{"removeContent", "Bot"}
	moderateBot                = Procedure{"moderateBot", "Bot"}
	noteBot                    = Procedure{"noteBot", "Bot"}
	writePreset                = Procedure{"writePreset", ""}
	deletePreset               = Procedure{"deletePreset", ""}
	inviteOperator             = Procedure{"inviteOperator", ""}
	revokeOperator             = Procedure{"revokeOperator", ""}
	removePost                 = Procedure{"removePost", "Post"}
	removeAttachment           = Procedure{"removeAttachment", "Attachment"}
	removeTask                 = Procedure{"removeTask", "Task"}
	removeService              = Procedure{"removeService", "Service"}
	removeRating               = Procedure{"removeRating", "Rating"}
	answerFeedback             = Procedure{"answerFeedback", "Feedback"}
	reviewOrder                = Procedure{"reviewOrder", "Order"}
	reviewPost                 = Procedure{"reviewPost", "Post"}
	rotateKey                  = Procedure{"rotateKey", ""}
	runMaintenance             = Procedure{"runMaintenance", ""}
)

// Procedures returns the table of procedures.
func Procedures() []Procedure {
	return []Procedure{
		updateSettings, activateLifecycle, deactivateLifecycle, activateEmailRequirement, deactivateEmailRequirement,
		publishDocument, withdrawDocument, createInvitation, revokeInvitation,
		topUpWallet, suspendBot, reinstateBot, reissueToken, mailOwner, moderateBot, noteBot, clearProfile, removeContent,
		writePreset, deletePreset, inviteOperator, revokeOperator, removePost, removeAttachment, removeTask, removeService, removeRating,
		answerFeedback, reviewOrder, reviewPost, rotateKey, runMaintenance,
	}
}

// Acts returns the procedures that the audit log can name: those of the table, and those that are no mutations.
func Acts() []string {
	acts := []string{exportList.Name, removeDemo.Name, "jobs.cancel", "jobs.delete", "jobs.retry", "jobs.pauseQueue", "jobs.resumeQueue"}
	for _, p := range Procedures() {
		acts = append(acts, p.Name)
	}
	slices.Sort(acts)
	return acts
}

// setupSwitch is a setting that excludes agents if its setup is missing, so it can be switched on only after the setup. Switching
// it off is always allowed.
type setupSwitch struct {
	// name is the switch's name, as the subject of a sentence.
	name string
	// pending is the fault of switching it on without its setup.
	pending fault.Code
	// missing lists the setup that is missing.
	missing func(ctx context.Context, a *API, q db.Querier) ([]string, error)
	// on reports whether it is on.
	on func(s *ent.Setting) bool
	// activate and deactivate are the procedures that switch it.
	activate, deactivate Procedure
	// since returns when a switch with a time was switched on, nil while it is off; begin and end switch it.
	since func(*ent.Setting) *time.Time
	begin func(*ent.SettingUpdateOne, time.Time) *ent.SettingUpdateOne
	end   func(*ent.SettingUpdateOne) *ent.SettingUpdateOne
}

// The switches that need setup.
var (
	emailGate = setupSwitch{
		name: "The email gate", pending: fault.VerificationSetupPending, missing: missingForGate,
		on: func(s *ent.Setting) bool { return s.EmailGateEnabled }, activate: updateSettings, deactivate: updateSettings,
	}
	emailRequirement = setupSwitch{
		name: "The email requirement", pending: fault.VerificationSetupPending, missing: missingForGate,
		on: func(s *ent.Setting) bool { return s.EmailRequirementActivatedAt != nil }, activate: activateEmailRequirement, deactivate: deactivateEmailRequirement,
		since: func(s *ent.Setting) *time.Time { return s.EmailRequirementActivatedAt },
		begin: (*ent.SettingUpdateOne).SetEmailRequirementActivatedAt, end: (*ent.SettingUpdateOne).ClearEmailRequirementActivatedAt,
	}
	restoreByEmail = setupSwitch{
		name: "Restoring access by email", pending: fault.LifecycleSetupPending, missing: missingForMail,
		on: func(s *ent.Setting) bool { return s.RestoreEnabled }, activate: updateSettings, deactivate: updateSettings,
	}
	agentLifecycle = setupSwitch{
		name: "The lifecycle", pending: fault.LifecycleSetupPending, missing: missingForMail,
		on: func(s *ent.Setting) bool { return s.LifecycleActivatedAt != nil }, activate: activateLifecycle, deactivate: deactivateLifecycle,
		since: func(s *ent.Setting) *time.Time { return s.LifecycleActivatedAt },
		begin: (*ent.SettingUpdateOne).SetLifecycleActivatedAt, end: (*ent.SettingUpdateOne).ClearLifecycleActivatedAt,
	}
)

func missingForGate(ctx context.Context, a *API, q db.Querier) ([]string, error) {
	return a.Owners.MissingForGate(ctx, q)
}

func missingForMail(_ context.Context, a *API, _ db.Querier) ([]string, error) {
	return a.Owners.MissingForMail(), nil
}

// ready returns the switch's pending fault with the missing setup, or nil if the switch may be on.
func (a *API) ready(ctx context.Context, tx *db.Tx, sw setupSwitch) error {
	missing, err := sw.missing(ctx, a, tx.SQL)
	if err != nil || len(missing) == 0 {
		return err
	}
	return fault.New(sw.pending).Say(sw.name + " cannot be switched on yet. Missing: " + strings.Join(missing, "; ") + ".")
}

// Switches lists the switches that need setup, and the setup that is missing now.
func (a *API) Switches(ctx context.Context) ([]*Switch, error) {
	current, err := a.Settings(ctx)
	if err != nil {
		return nil, err
	}
	var all []*Switch
	for _, sw := range []setupSwitch{emailGate, restoreByEmail, emailRequirement, agentLifecycle} {
		missing, err := sw.missing(ctx, a, a.DB.SQL)
		if err != nil {
			return nil, err
		}
		if missing == nil {
			missing = []string{}
		}
		all = append(all, &Switch{Name: sw.name, On: sw.on(current), Missing: missing, Activate: sw.activate.Name, Deactivate: sw.deactivate.Name})
	}
	return all, nil
}
