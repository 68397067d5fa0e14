/* Limber, Pinocchio and MuJoCo on the same rigid arm and the same random states:
       peers ROBOT BATCHES
   prints one line per function: library, function, ns per call (best batch), largest relative difference from Limber's result.
   Batches of all functions alternate, so that all of them see the same machine. */
#include "limber.h"

#include <mujoco/mujoco.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/rnea.hpp>

namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;
constexpr int STATES = 32;

struct State {
    Vector q, qd, tau;
};

struct Function {
    std::string library, name;
    std::function<void(const State &)> call;
    const Matrix *result, *reference; /* of the last call */
    double best, difference;
};

Eigen::Matrix3d by_rows(const double *R)
{
    return Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(R);
}

Eigen::Matrix3d symmetric(const double *J)
{
    Eigen::Matrix3d full;
    full << J[0], J[3], J[4], J[3], J[1], J[5], J[4], J[5], J[2];
    return full;
}

/* Joints about an axis of their frame are the faster ones */
pinocchio::JointModel joint_about(const Eigen::Vector3d &axis)
{
    if (axis == Eigen::Vector3d::UnitX()) return pinocchio::JointModelRX();
    if (axis == Eigen::Vector3d::UnitY()) return pinocchio::JointModelRY();
    if (axis == Eigen::Vector3d::UnitZ()) return pinocchio::JointModelRZ();
    return pinocchio::JointModelRevoluteUnaligned(axis);
}

pinocchio::Model pinocchio_model(const limber *robot)
{
    pinocchio::Model model;
    double g[3];
    limber_gravity(robot, g);
    model.gravity.linear() = Eigen::Vector3d(g[0], g[1], g[2]);
    for (int i = 0; i < limber_links(robot); i++) {
        struct limber_link link;
        limber_link(robot, i, &link);
        const pinocchio::SE3 placement(by_rows(link.R), Eigen::Vector3d(link.t));
        const auto joint = model.addJoint(pinocchio::JointIndex(link.parent + 1), joint_about(Eigen::Vector3d(link.axis)),
                                          placement, "joint" + std::to_string(i));
        model.appendBodyToJoint(joint, pinocchio::Inertia(link.mass, Eigen::Vector3d(link.com), symmetric(link.inertia)));
    }
    return model;
}

/* The same robot as MJCF. Contacts and constraints are off. */
void write_body(const limber *robot, int parent, std::string &xml)
{
    char text[1024];
    for (int i = 0; i < limber_links(robot); i++) {
        struct limber_link link;
        limber_link(robot, i, &link);
        if (link.parent != parent) continue;
        const Eigen::Quaterniond turn(by_rows(link.R));
        const double *J = link.inertia;
        std::snprintf(text, sizeof text,
                      "<body pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'>"
                      "<inertial pos='%.17g %.17g %.17g' mass='%.17g' fullinertia='%.17g %.17g %.17g %.17g %.17g %.17g'/>"
                      "<joint type='hinge' axis='%.17g %.17g %.17g'/>",
                      link.t[0], link.t[1], link.t[2], turn.w(), turn.x(), turn.y(), turn.z(), link.com[0], link.com[1],
                      link.com[2], link.mass, J[0], J[1], J[2], J[3], J[4], J[5], link.axis[0], link.axis[1],
                      link.axis[2]);
        xml += text;
        write_body(robot, i, xml);
        xml += "</body>";
    }
}

mjModel *mujoco_model(const limber *robot)
{
    double g[3];
    char option[256], error[1000] = "";
    limber_gravity(robot, g);
    std::snprintf(option, sizeof option, "<option gravity='%.17g %.17g %.17g'><flag contact='disable' constraint='disable'/></option>",
                  g[0], g[1], g[2]);
    std::string xml = std::string("<mujoco><compiler angle='radian' balanceinertia='false'/>") + option + "<worldbody>";
    write_body(robot, -1, xml);
    xml += "</worldbody></mujoco>";
    mjVFS vfs;
    mj_defaultVFS(&vfs);
    mj_addBufferVFS(&vfs, "robot.xml", xml.data(), int(xml.size()));
    mjModel *model = mj_loadXML("robot.xml", &vfs, error, sizeof error);
    mj_deleteVFS(&vfs);
    if (model == nullptr) std::fprintf(stderr, "MuJoCo: %s\n", error), std::exit(1);
    return model;
}

double seconds()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<State> random_states(int n)
{
    std::srand(1);
    std::vector<State> states(STATES);
    for (State &s : states) s = {Vector::Random(n) * M_PI, Vector::Random(n), Vector::Random(n)};
    return states;
}

/* Batches are about 100 us long */
void measure(std::vector<Function> &functions, const std::vector<State> &states, int batches)
{
    std::vector<int> repeats(functions.size(), 1);
    for (int batch = 0; batch < batches; batch++)
        for (size_t i = 0; i < functions.size(); i++) {
            const double start = seconds();
            for (int r = 0; r < repeats[i]; r++)
                for (const State &s : states) functions[i].call(s);
            const double spent = seconds() - start;
            functions[i].best = std::min(functions[i].best, 1e9 * spent / (repeats[i] * STATES));
            if (spent < 1e-4) repeats[i] *= 2;
        }
}

void compare(std::vector<Function> &functions, const std::vector<State> &states)
{
    for (const State &s : states) {
        for (Function &f : functions) f.call(s);
        for (Function &f : functions)
            f.difference = std::max(f.difference, (*f.result - *f.reference).cwiseAbs().maxCoeff() /
                                                      f.reference->cwiseAbs().maxCoeff());
    }
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    limber *robot = limber_make(argv[1]);
    if (robot == nullptr) return 1;
    const int n = limber_links(robot);
    const std::vector<State> states = random_states(n);

    pinocchio::Model model = pinocchio_model(robot);
    pinocchio::Data data(model);
    mjModel *m = mujoco_model(robot);
    mjData *d = mj_makeData(m);

    /* results: of Limber, then of the others */
    Matrix qdd(n, 1), tau(n, 1), by(n, 2 * n), free_qdd(n, 1), p_qdd(n, 1), p_tau(n, 1), p_by(n, 2 * n), m_qdd(n, 1), m_tau(n, 1);
    const auto own_derivatives = [&](const State &s) {
        limber_derivatives(robot, s.q.data(), s.qd.data(), s.tau.data(), free_qdd.data(), by.data(), by.data() + n * n);
    };
    const auto aba = [&](pinocchio::Convention convention) {
        return [&, convention](const State &s) { p_qdd = pinocchio::aba(model, data, s.q, s.qd, s.tau, convention); };
    };
    const auto mujoco_forward = [&](const State &s) {
        mju_copy(d->qpos, s.q.data(), n), mju_copy(d->qvel, s.qd.data(), n), mju_copy(d->qfrc_applied, s.tau.data(), n);
        mj_forward(m, d);
        mju_copy(m_qdd.data(), d->qacc, n);
    };
    const auto mujoco_inverse = [&](const State &s) {
        mju_copy(d->qpos, s.q.data(), n), mju_copy(d->qvel, s.qd.data(), n), mju_copy(d->qacc, s.qd.data(), n);
        mj_inverse(m, d);
        mju_copy(m_tau.data(), d->qfrc_inverse, n);
    };
    std::vector<Function> functions = {
        {"limber", "forward", [&](const State &s) { limber_forward(robot, s.q.data(), s.qd.data(), s.tau.data(), qdd.data()); },
         &qdd, &qdd, 1e30, 0},
        {"pinocchio-local", "forward", aba(pinocchio::Convention::LOCAL), &p_qdd, &qdd, 1e30, 0},
        {"pinocchio-world", "forward", aba(pinocchio::Convention::WORLD), &p_qdd, &qdd, 1e30, 0},
        {"mujoco", "forward", mujoco_forward, &m_qdd, &qdd, 1e30, 0},
        {"limber", "inverse", [&](const State &s) { limber_inverse(robot, s.q.data(), s.qd.data(), s.qd.data(), tau.data()); },
         &tau, &tau, 1e30, 0},
        {"pinocchio", "inverse", [&](const State &s) { p_tau = pinocchio::rnea(model, data, s.q, s.qd, s.qd); }, &p_tau, &tau,
         1e30, 0},
        {"mujoco", "inverse", mujoco_inverse, &m_tau, &tau, 1e30, 0},
        {"limber", "derivatives", own_derivatives, &by, &by, 1e30, 0},
        {"pinocchio", "derivatives", [&](const State &s) { pinocchio::computeABADerivatives(model, data, s.q, s.qd, s.tau); },
         &p_by, &by, 1e30, 0},
    };
    measure(functions, states, std::atoi(argv[2]));
    functions.back().call = [&](const State &s) {
        pinocchio::computeABADerivatives(model, data, s.q, s.qd, s.tau);
        p_by << data.ddq_dq, data.ddq_dv;
    };
    compare(functions, states);
    for (const Function &f : functions)
        std::printf("%s %s %.6g %.3g\n", f.library.c_str(), f.name.c_str(), f.best, f.difference);
    mj_deleteData(d);
    mj_deleteModel(m);
    limber_free(robot);
    return 0;
}
