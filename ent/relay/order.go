package relay

import (
	"fmt"
	"io"

	"entgo.io/ent/dialect/sql"
	"github.com/99designs/gqlgen/graphql"
)

// OrderDirection is the direction in which a list is ordered by a column.
type OrderDirection string

// The two directions.
const (
	OrderDirectionAsc  OrderDirection = "ASC"
	OrderDirectionDesc OrderDirection = "DESC"
)

// Validate refuses everything but the two directions.
func (d OrderDirection) Validate() error {
	if d != OrderDirectionAsc && d != OrderDirectionDesc {
		return fmt.Errorf("%q is no direction: ASC or DESC", string(d))
	}
	return nil
}

// String is the direction in SQL and in GraphQL.
func (d OrderDirection) String() string { return string(d) }

// Reverse is the other direction.
func (d OrderDirection) Reverse() OrderDirection {
	if d == OrderDirectionDesc {
		return OrderDirectionAsc
	}
	return OrderDirectionDesc
}

// OrderTermOption is the direction for ent's terms.
func (d OrderDirection) OrderTermOption() sql.OrderTermOption {
	if d == OrderDirectionDesc {
		return sql.OrderDesc()
	}
	return sql.OrderAsc()
}

// MarshalGQL writes the direction.
func (d OrderDirection) MarshalGQL(w io.Writer) { graphql.MarshalString(string(d)).MarshalGQL(w) }

// UnmarshalGQL reads a direction.
func (d *OrderDirection) UnmarshalGQL(sent any) error {
	text, ok := sent.(string)
	if !ok {
		return fmt.Errorf("a direction is ASC or DESC, not %T", sent)
	}
	*d = OrderDirection(text)
	return d.Validate()
}
