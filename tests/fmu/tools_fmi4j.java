// java tools_fmi4j.java FMU RESULT STEP TOLERANCE INPUTS OUTPUT...: the FMU in FMI4j, a co-simulation importer for the Java virtual
// machine. INPUTS is a CSV file with names and then the values of each step, which are held over it; the outputs after each step go
// to RESULT.

import java.io.File;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import no.ntnu.ihb.fmi4j.FmiStatus;
import no.ntnu.ihb.fmi4j.importer.fmi2.CoSimulationSlave;
import no.ntnu.ihb.fmi4j.importer.fmi2.Fmu;

class ToolsFmi4j {
    static void require(boolean fine, String what) {
        if (!fine) throw new IllegalStateException(what);
    }

    public static void main(String[] words) throws Exception {
        double step = Double.parseDouble(words[2]), tolerance = Double.parseDouble(words[3]);
        List<String> rows = Files.readAllLines(Path.of(words[4]));
        String[] outputs = Arrays.copyOfRange(words, 5, words.length);
        try (Fmu fmu = Fmu.from(new File(words[0])); PrintWriter result = new PrintWriter(words[1])) {
            CoSimulationSlave slave = fmu.asCoSimulationFmu().newInstance("arm");
            long[] in = slave.getModelVariables().getValueReferences(rows.get(0).split(","));
            long[] out = slave.getModelVariables().getValueReferences(outputs);
            require(slave.setupExperiment(0, 0, tolerance), "setupExperiment");
            require(slave.enterInitializationMode() && slave.exitInitializationMode(), "initialization");
            result.println("time," + String.join(",", outputs));
            for (int k = 1; k < rows.size(); k++) {
                double[] u = Arrays.stream(rows.get(k).split(",")).mapToDouble(Double::parseDouble).toArray();
                double[] y = new double[out.length];
                require(slave.writeReal(in, u) == FmiStatus.OK, "writeReal");
                require(slave.doStep((k - 1) * step, step), "doStep " + k);
                require(slave.readReal(out, y) == FmiStatus.OK, "readReal");
                StringBuilder row = new StringBuilder().append(k * step);
                for (double value : y) row.append(',').append(value);
                result.println(row);
            }
            slave.terminate();
        }
    }
}
