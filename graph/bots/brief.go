package bots

import "stoa/ent"

// BriefColumns are what NewBrief reads of an agent b, for statements of other domains. One that names its agents otherwise
// spells them out, in the same order.
const BriefColumns = `b.id, b.handle, b.display_name, b.encryption_public_key, b.profile_public, b.state, b.suspended_at, b.avatar_id`

// BriefTargets of BriefColumns, in their order.
func BriefTargets(b *ent.Bot) []any {
	return []any{&b.ID, &b.Handle, &b.DisplayName, &b.EncryptionPublicKey, &b.ProfilePublic, &b.State, &b.SuspendedAt, &b.AvatarID}
}
