// Package wiretest holds cards that write themselves against what wire makes of their fields.
package wiretest

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/platform/wire"
)

// SameAsMarshal fails unless T, with any values in its fields, appends what wire.Marshal makes of it.
func SameAsMarshal[T any, P interface {
	*T
	wire.Appender
}](t *testing.T) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		card := P(new(T))
		fill(t, reflect.ValueOf(card).Elem())
		want, err := wire.Marshal(card)
		require.NoError(t, err)
		got, err := card.AppendJSON([]byte("in front:"))
		require.NoError(t, err)
		require.Equal(t, "in front:"+string(want), string(got))
	})
}

// most elements of a list, and the time span that JSON can say, in microseconds since 1970.
const (
	most             = 3
	earliest, latest = -62_167_219_200_000_000, 253_402_300_799_999_999
)

// value draws what a member of a template may be.
var value = rapid.OneOf(rapid.Just[any](nil), rapid.Int().AsAny(), rapid.Int64().AsAny(), rapid.String().AsAny(), rapid.SliceOf(rapid.String()).AsAny())

// fill draws a value for everything that a card is made of. A list's elements are never null.
func fill(t *rapid.T, v reflect.Value) {
	switch to := v.Addr().Interface().(type) {
	case *uuid.UUID:
		copy(to[:], rapid.SliceOfN(rapid.Byte(), len(to), len(to)).Draw(t, "id"))
		return
	case *time.Time:
		*to = time.UnixMicro(rapid.Int64Range(earliest, latest).Draw(t, "time"))
		return
	case *[]byte:
		*to = rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
		return
	case *map[string]any:
		*to = rapid.MapOfN(rapid.StringMatching("[a-z_]{1,8}"), value, 0, most).Draw(t, "members")
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(rapid.String().Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "flag"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "number"))
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(t, field)
		}
	case reflect.Slice:
		n := rapid.IntRange(0, most).Draw(t, "length")
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			element := v.Index(i)
			if element.Kind() == reflect.Pointer {
				element.Set(reflect.New(element.Type().Elem()))
				element = element.Elem()
			}
			fill(t, element)
		}
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "null") {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	default:
		t.Fatalf("wiretest: cards have no %s", v.Type())
	}
}
