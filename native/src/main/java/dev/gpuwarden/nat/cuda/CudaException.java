package dev.gpuwarden.nat.cuda;

/** A function that returned another result than success. */
public final class CudaException extends Exception {

    private static final long serialVersionUID = 1;

    private final CudaSymbol symbol;
    private final int result;

    CudaException(CudaSymbol symbol, int result) {
        super(symbol.symbol() + " returned " + result, null, false, false);
        this.symbol = symbol;
        this.result = result;
    }

    public CudaSymbol symbol() {
        return symbol;
    }

    public int result() {
        return result;
    }
}
