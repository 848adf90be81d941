package email

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/google/uuid"
)

// KeySize is the size of the installation's key in bytes.
const KeySize = 32

// codes is the number of possible codes of six digits.
const codes = 1_000_000

// Code returns the six digits that belong to a challenge. All codes are equally likely, and without the key a challenge's id
// reveals nothing about its code.
func (a *API) Code(challenge uuid.UUID) string {
	const fair = math.MaxUint64 - math.MaxUint64%codes // numbers above favour small codes
	for round := 0; ; round++ {
		if n := binary.BigEndian.Uint64(a.mac("code "+strconv.Itoa(round), challenge)); n < fair {
			return fmt.Sprintf("%06d", n%codes)
		}
	}
}

// IsCode reports, in constant time, whether code belongs to the challenge.
func (a *API) IsCode(challenge uuid.UUID, code string) bool { return equal(a.Code(challenge), code) }

// LinkToken returns the 43 characters of base64url by which a link proves that it was mailed. The label names the purpose of the
// link: each label and id has another token.
func (a *API) LinkToken(label string, id uuid.UUID) string {
	return base64.RawURLEncoding.EncodeToString(a.mac("link "+label, id))
}

// IsLinkToken reports, in constant time, whether token belongs to the label and id.
func (a *API) IsLinkToken(label string, id uuid.UUID, token string) bool {
	return equal(a.LinkToken(label, id), token)
}

// AddressDigest returns the name under which the passports of an owner's address are counted after the address was erased. No
// mail address has its form, and it reveals nothing without the installation's key.
func (a *API) AddressDigest(address string) string {
	return "erased " + base64.RawURLEncoding.EncodeToString(a.mac("erased address "+address, uuid.Nil))
}

// mac panics without the installation's key, because its result would not be secret.
func (a *API) mac(label string, id uuid.UUID) []byte {
	if len(a.Key) != KeySize {
		panic("email: the installation's key is not set")
	}
	m := hmac.New(sha256.New, a.Key)
	m.Write([]byte(label))
	m.Write([]byte{0})
	m.Write(id[:])
	return m.Sum(nil)
}

func equal(one, other string) bool {
	return subtle.ConstantTimeCompare([]byte(one), []byte(other)) == 1
}
