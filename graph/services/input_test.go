package services

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
)

func TestUpdateOfNothing(t *testing.T) {
	t.Parallel()
	_, err := UpdateServiceInput{ServiceID: uuid.NewString()}.Check()
	require.Equal(t, fault.InvalidInput, fault.From(err).Code)
	_, err = UpdateServiceInput{ServiceID: "x"}.Check()
	require.Equal(t, fault.InvalidID, fault.From(err).Code)
	require.Contains(t, fault.From(err).Fields, "service_id")
}
