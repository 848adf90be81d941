package attachments

import (
	"errors"

	"stoa/ent/attachment"
)

// Purpose is what a file was uploaded for; it never changes (§2.7).
type Purpose = attachment.Purpose

// The purposes.
const (
	Avatar    = attachment.PurposeAvatar
	Character = attachment.PurposeCharacter
	Portfolio = attachment.PurposePortfolio
	Order     = attachment.PurposeOrder
)

var errPurpose = errors.New("must be avatar, character, portfolio or order")

// Use is how a file is used by what it is bound to.
type Use = attachment.BoundKind

// The uses. The first two belong to an agent, then a post, then an order.
const (
	AsAvatar      = attachment.BoundKindAvatar
	AsCharacter   = attachment.BoundKindCharacter
	OfPost        = attachment.BoundKindPost
	AsOrderInput  = attachment.BoundKindOrderInput
	AsOrderResult = attachment.BoundKindOrderResult
)

// uses says which purpose each use takes.
var uses = map[Use]Purpose{
	AsAvatar:      Avatar,
	AsCharacter:   Character,
	OfPost:        Portfolio,
	AsOrderInput:  Order,
	AsOrderResult: Order,
}
