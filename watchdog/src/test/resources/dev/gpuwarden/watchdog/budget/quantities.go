// Writes quantities.tsv: texts, and the values that the API server's own code gives to them.
//
//	cp quantities.go /tmp/corpus/main.go && cd /tmp/corpus
//	go mod init corpus && go get k8s.io/apimachinery@v0.36.3 && go mod tidy && go run . > quantities.tsv
//
// A row is text, tab, value. The value is mantissa, e, exponent, without zeros at the end of the mantissa; or the word error.
package main

import (
	"fmt"
	"math/big"
	"math/rand"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

const rows = 4000

var known = []string{
	"", "0", "-0", "+0", "00", "1", "+1", "-1", "-5", "5k", "5000", "3k", "1e3", "5E3", "1E3", "1e+3", "1e-3", "1E-3", "5E", "5Ei", "1Pi",
	"1.5Gi", "0.5", ".5", "5.", ".", "+", "-", "+.", "k", "Ki", "-k", ".Ki", ".Ti", ".Pi", ".Ei", "Ei", "Pi", "e5", "e-10", ".e-10", "-e-9",
	"..5", "1..5", "1.2.3", "--1", "+-1", "1+3", "1-", "1e", "1e+", "1E+", "1ee3", "1Ee3", "1e3k", "1ki", "1K", "1g", "1GB", "1MiB", "1 Gi",
	" 1", "1 ", "1_000", "1,000", "0x10", "NaN", "Inf", "-Inf", "none", "3000Mi", "14000", "14k", "1536Mi", "15360", "100m", "1500m", "1u", "1n",
	"0.1n", "0.9n", "-0.1n", "1.0000000001", "-1.0000000001", "0.0000000005Ki", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
	"7Ei", "8Ei", "-8Ei", "9Ei", "100Ei", "8E", "10E", "99999999999999999999", "999999999999999999999Ki", "1e18", "1e19", "1e100", "1e-100", "1e9999",
	"-1e-9999", "0e9999", "1e00003", "123456789012345678901e9", "0.000000000000000000001E", "१", "٣k", "１", "1Ｇ", "½",
}

func main() {
	random := rand.New(rand.NewSource(20260602))
	seen := map[string]bool{}
	for _, text := range known {
		row(text, seen)
	}
	for len(seen) < rows {
		switch random.Intn(3) {
		case 0:
			row(wellFormed(random), seen)
		case 1:
			row(changed(random, wellFormed(random)), seen)
		default:
			row(letters(random, 1+random.Intn(8)), seen)
		}
	}
}

func row(text string, seen map[string]bool) {
	if seen[text] {
		return
	}
	seen[text] = true
	quantity, err := resource.ParseQuantity(text)
	if err != nil {
		fmt.Printf("%s\terror\n", text)
		return
	}
	dec := quantity.AsDec()
	mantissa := new(big.Int).Set(dec.UnscaledBig())
	exponent := -int64(dec.Scale())
	if mantissa.Sign() == 0 {
		exponent = 0
	}
	for mantissa.Sign() != 0 {
		tenth, rest := new(big.Int).QuoRem(mantissa, big.NewInt(10), new(big.Int))
		if rest.Sign() != 0 {
			break
		}
		mantissa = tenth
		exponent++
	}
	fmt.Printf("%s\t%se%d\n", text, mantissa, exponent)
}

func wellFormed(random *rand.Rand) string {
	sign := []string{"", "", "", "+", "-"}[random.Intn(5)]
	text := sign + digits(random, random.Intn(21))
	if random.Intn(2) == 0 {
		text += "." + digits(random, random.Intn(14))
	}
	suffixes := []string{"", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e", "E"}
	suffix := suffixes[random.Intn(len(suffixes))]
	text += suffix
	if strings.EqualFold(suffix, "e") {
		text += []string{"", "+", "-"}[random.Intn(3)] + digits(random, random.Intn(3))
	}
	return text
}

func changed(random *rand.Rand, text string) string {
	at := random.Intn(len(text) + 1)
	end := at
	if end < len(text) {
		end += random.Intn(2)
	}
	return text[:at] + letters(random, random.Intn(2)) + text[end:]
}

func digits(random *rand.Rand, count int) string {
	text := ""
	for i := 0; i < count; i++ {
		text += string(rune('0' + random.Intn(10)*random.Intn(2)))
	}
	return text
}

func letters(random *rand.Rand, count int) string {
	alphabet := []rune("00123456789..+-eEinumkKMGTPBx _")
	text := ""
	for i := 0; i < count; i++ {
		text += string(alphabet[random.Intn(len(alphabet))])
	}
	return text
}
